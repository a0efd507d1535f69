#include "server/engine/run_identity.h"

#include <cstddef>

namespace zsetd {
namespace {

constexpr size_t kDigitCount = 40;  // as Redis

std::string RandomHexDigits(Rng& rng) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  while (digits.size() < kDigitCount) digits += kDigits[rng.Next() % 16];
  return digits;
}

}  // namespace

RunIdentity::RunIdentity(Rng& rng, Millis started_at)
    : rng_(rng),
      started_at_(started_at),
      run_id_(RandomHexDigits(rng)),
      replication_id_(RandomHexDigits(rng)) {}

void RunIdentity::ChangeReplicationId() { replication_id_ = RandomHexDigits(rng_); }

}  // namespace zsetd
