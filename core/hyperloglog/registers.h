#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zsetd {

// The registers of a HyperLogLog. The lowest bits of an element's hash select the register. Its
// value is the greatest position of the lowest set bit in the other bits of the hashes, from 1 on,
// or 0 if it has no element. (Flajolet, Fusy, Gandouet, Meunier 2007, "HyperLogLog".)
inline constexpr int kHllIndexBits = 14;
inline constexpr size_t kHllRegisters = size_t{1} << kHllIndexBits;
inline constexpr int kHllValueBits = 6;
inline constexpr size_t kHllValues = size_t{1} << kHllValueBits;  // of a register, 0 included

// The greatest value that an element can cause. A damaged string may have greater ones.
inline constexpr uint8_t kMostHllValue = 64 - kHllIndexBits + 1;

// All registers, a byte each.
using HllRegisters = std::array<uint8_t, kHllRegisters>;

// The number of registers with each value.
using HllHistogram = std::array<uint32_t, kHllValues>;

// The register that an element affects, and the least value that it must have then.
struct HllUpdate {
  uint32_t index = 0;
  uint8_t value = 1;
};

// The update that adds this element. Equal to that of Redis. O(length).
HllUpdate UpdateOf(std::string_view element);

HllHistogram HistogramOf(const HllRegisters& registers);

}  // namespace zsetd
