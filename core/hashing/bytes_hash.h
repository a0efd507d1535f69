#pragma once

#include <cstdint>
#include <string_view>

#include "core/hashing/sip_hash.h"

namespace zsetd {

// SipHash-1-3 with a seed. Without knowing the seed it is impossible to construct bytes that share
// a bucket.
class BytesHash {
 public:
  explicit constexpr BytesHash(uint64_t seed)
      : key_{Mixed(seed), Mixed(seed + 0x9e3779b97f4a7c15)} {}

  // O(length).
  uint64_t operator()(std::string_view bytes) const { return SipHash<1, 3>(key_, bytes); }

 private:
  // Spreads one seed over many words. Steele, Lea, Flood 2014, "Fast Splittable PRNGs" (SplitMix).
  static constexpr uint64_t Mixed(uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }

  HashKey key_;
};

}  // namespace zsetd
