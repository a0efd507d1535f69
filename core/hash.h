#pragma once

#include <cstdint>
#include <string_view>

namespace zsetd {

// The key of a SipHash: 128 bits that only the server knows.
struct HashKey {
  uint64_t low = 0;
  uint64_t high = 0;
};

// SipHash-c-d (Aumasson and Bernstein 2012): `c` rounds for each eight bytes, `d` at the end.
template <int c, int d>
uint64_t SipHash(HashKey key, std::string_view bytes);

// SipHash-1-3 with a seed. Who does not know the seed cannot make up bytes that meet in one bucket.
class BytesHash {
 public:
  explicit BytesHash(uint64_t seed);

  // O(length).
  uint64_t operator()(std::string_view bytes) const { return SipHash<1, 3>(key_, bytes); }

 private:
  HashKey key_;
};

}  // namespace zsetd
