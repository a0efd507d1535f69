// The dense encoding of registers: six bits each without gaps, the lowest bit first, as in
// core/util/packed_bits.h.
//
//   byte     0              1              2              3
//          [ 11 | 000000 ][ 2222 | 1111 ][ 333333 | 22 ][ 55 | 444444 ]  the number of the register
//
// Eight bytes in front of the registers may be read and rewritten: those of the header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hyperloglog/registers.h"
#include "core/util/packed_bits.h"

namespace zsetd {

inline constexpr size_t kDenseHllBytes = kHllRegisters * kHllValueBits / 8;

inline uint8_t DenseHllRegister(const char* dense, size_t index) {
  return static_cast<uint8_t>(LoadBits(dense, index * kHllValueBits, kHllValueBits));
}

inline void SetDenseHllRegister(char* dense, size_t index, uint8_t value) {
  StoreBits(dense, index * kHllValueBits, kHllValueBits, value);
}

// Raises each register to the one in `dense`, if that is greater.
void RaiseToDense(const char* dense, HllRegisters& registers);

void PackDense(const HllRegisters& registers, char* dense);

HllHistogram HistogramOfDense(const char* dense);

}  // namespace zsetd
