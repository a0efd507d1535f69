#include "core/hashing/bytes_hash.h"

namespace zsetd {
namespace {

// Spreads one seed over many words. Steele, Lea, Flood 2014, "Fast Splittable PRNGs" (SplitMix).
uint64_t Mixed(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

}  // namespace

BytesHash::BytesHash(uint64_t seed) : key_{Mixed(seed), Mixed(seed + 0x9e3779b97f4a7c15)} {}

}  // namespace zsetd
