#include "core/hyperloglog/dense_registers.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace zsetd {
namespace {

// Registers are converted in groups of eight: six bytes, or a word with a byte for each.
constexpr size_t kGroup = 8;
constexpr size_t kGroupBytes = kGroup * kHllValueBits / 8;
constexpr uint64_t kGroupMask = LowestBits(8 * kGroupBytes);

// The 16-byte header precedes the registers, so a load that ends with a group is within the string.
uint64_t LoadGroup(const char* dense, size_t group) {
  constexpr size_t kBefore = sizeof(uint64_t) - kGroupBytes;
  uint64_t word;
  std::memcpy(&word, dense + group * kGroupBytes - kBefore, sizeof(word));
  return word >> (8 * kBefore);
}

// Halves the distance that is left in each step: 24 bits of 32, 12 of 16, 6 of 8.
uint64_t Spread(uint64_t packed) {
  uint64_t word = (packed & 0x0000000000ffffff) | (packed & 0x0000ffffff000000) << 8;
  word = (word & 0x00000fff00000fff) | (word & 0x00fff00000fff000) << 4;
  return (word & 0x003f003f003f003f) | (word & 0x0fc00fc00fc00fc0) << 2;
}

uint64_t Pack(uint64_t spread) {
  uint64_t word = (spread & 0x003f003f003f003f) | (spread & 0x3f003f003f003f00) >> 2;
  word = (word & 0x00000fff00000fff) | (word & 0x0fff00000fff0000) >> 4;
  return (word & 0x0000000000ffffff) | (word & 0x00ffffff00000000) >> 8;
}

void Unpack(const char* dense, HllRegisters& registers) {
  for (size_t group = 0; group < kHllRegisters / kGroup; ++group) {
    const uint64_t eight = Spread(LoadGroup(dense, group));
    std::memcpy(&registers[group * kGroup], &eight, sizeof(eight));
  }
}

}  // namespace

// In blocks, so that the second loop uses vector instructions on data in the first-level cache.
void RaiseToDense(const char* dense, HllRegisters& registers) {
  HllRegisters others;
  Unpack(dense, others);
  for (size_t i = 0; i < kHllRegisters; ++i) registers[i] = std::max(registers[i], others[i]);
}

void PackDense(const HllRegisters& registers, char* dense) {
  for (size_t group = 0; group < kHllRegisters / kGroup; ++group) {
    uint64_t eight;
    std::memcpy(&eight, &registers[group * kGroup], sizeof(eight));
    const uint64_t packed = Pack(eight) & kGroupMask;
    std::memcpy(dense + group * kGroupBytes, &packed, kGroupBytes);
  }
}

// Counts pairs of registers first: that is half as many increments, without unpacking. Equal pairs
// often follow each other, so neighbours are counted in two tables, which do not wait for each
// other. Rows of the tables are added as vectors; most rows are zero.
HllHistogram HistogramOfDense(const char* dense) {
  constexpr int kPairBits = 2 * kHllValueBits;
  constexpr uint64_t kPairMask = LowestBits(kPairBits);
  using Pairs = std::array<uint16_t, kHllValues * kHllValues>;
  Pairs even = {}, odd = {};
  for (size_t group = 0; group < kHllRegisters / kGroup; ++group) {
    const uint64_t packed = LoadGroup(dense, group);
    ++even[packed & kPairMask];
    ++odd[packed >> kPairBits & kPairMask];
    ++even[packed >> 2 * kPairBits & kPairMask];
    ++odd[packed >> 3 * kPairBits & kPairMask];
  }
  std::array<uint16_t, kHllValues> firsts = {};
  HllHistogram histogram = {};
  for (size_t second = 0; second < kHllValues; ++second) {
    const size_t row = second * kHllValues;
    uint16_t sum = 0;
    for (size_t first = 0; first < kHllValues; ++first) {
      const auto count = static_cast<uint16_t>(even[row + first] + odd[row + first]);
      firsts[first] = static_cast<uint16_t>(firsts[first] + count);
      sum = static_cast<uint16_t>(sum + count);
    }
    histogram[second] += sum;
  }
  for (size_t first = 0; first < kHllValues; ++first) histogram[first] += firsts[first];
  return histogram;
}

}  // namespace zsetd
