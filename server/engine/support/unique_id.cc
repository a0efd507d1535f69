#include "server/engine/support/unique_id.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace zsetd {

std::string UniqueId() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<uint8_t, kUniqueIdLength / 2> bytes;
  // The system returns up to 256 bytes completely, or waits at boot until a signal arrives.
  while (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    if (errno != EINTR) std::abort();
  }
  std::string id;
  for (const uint8_t byte : bytes) {
    id += kDigits[byte / 16];
    id += kDigits[byte % 16];
  }
  return id;
}

}  // namespace zsetd
