#include "core/hyperloglog/registers.h"

#include <bit>
#include <cstring>

#include "core/hashing/murmur_hash.h"

namespace zsetd {
namespace {

constexpr uint64_t kSeed = 0xadc83b19;  // Redis's: other seeds cause other registers

}  // namespace

HllUpdate UpdateOf(std::string_view element) {
  constexpr int kRestBits = 64 - kHllIndexBits;
  const uint64_t hash = MurmurHash64A(element, kSeed);
  const uint64_t rest = (hash >> kHllIndexBits) | (uint64_t{1} << kRestBits);  // bounds the value
  return {.index = static_cast<uint32_t>(hash % kHllRegisters),
          .value = static_cast<uint8_t>(std::countr_zero(rest) + 1)};
}

// Equal values often follow each other. Four histograms keep their increments from waiting for each
// other.
HllHistogram HistogramOf(const HllRegisters& registers) {
  constexpr size_t kLanes = 4;
  HllHistogram lanes[kLanes] = {};
  for (size_t i = 0; i < kHllRegisters; i += 2 * kLanes) {
    uint64_t eight;
    std::memcpy(&eight, &registers[i], sizeof(eight));
    if (eight == 0) {
      lanes[0][0] += 2 * kLanes;
      continue;
    }
    for (size_t shift = 0; shift < 64; shift += 8) {
      ++lanes[shift / 8 % kLanes][eight >> shift & (kHllValues - 1)];
    }
  }
  HllHistogram sum = {};
  for (const HllHistogram& lane : lanes) {
    for (size_t value = 0; value < kHllValues; ++value) sum[value] += lane[value];
  }
  return sum;
}

}  // namespace zsetd
