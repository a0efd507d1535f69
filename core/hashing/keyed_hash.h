#pragma once

#include <cstdint>
#include <string_view>

#include "core/hashing/bytes_hash.h"

namespace zsetd {

BytesHash HashWithDrawnSeed();

// The hash of bytes that clients choose, under a key that is drawn when it is first asked for: it
// differs from run to run, so it is never stored, and nobody outside can make up bytes that meet in
// one bucket. (absl::Hash cannot promise that: bytes that are equal to one of its constants drown
// the seed.) O(length): 14 ns for 20 bytes.
inline uint64_t KeyedHash(std::string_view bytes) {
  static const BytesHash hash = HashWithDrawnSeed();
  return hash(bytes);
}

// The same for containers.
struct KeyedHasher {
  using is_transparent = void;
  uint64_t operator()(std::string_view bytes) const { return KeyedHash(bytes); }
};

}  // namespace zsetd
