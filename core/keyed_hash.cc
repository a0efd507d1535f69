#include "core/keyed_hash.h"

#include <random>

#include "core/hash.h"

namespace zsetd {
namespace {

uint64_t DrawnSeed() {
  std::random_device chance;
  return uint64_t{chance()} << 32 | chance();
}

}  // namespace

uint64_t KeyedHash(std::string_view bytes) {
  static const BytesHash hash(DrawnSeed());
  return hash(bytes);
}

}  // namespace zsetd
