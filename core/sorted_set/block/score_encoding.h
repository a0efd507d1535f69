#pragma once

#include <bit>
#include <cstdint>

#include "core/util/packed_integer.h"

namespace zsetd {

// Scores as unsigned integers in the same order, and frames that make them short.
//
//   score    -inf ... -1.0 ... -5e-324  0  5e-324 ... 1.0 ... inf
//   code     000F...  400F...  7FFF..F  8000..0  8000..1  BFF0...  FFF0...
//
// IEEE 754 doubles of one sign have the order of their bits. A code flips the sign bit of scores
// from zero up, and all bits of negative scores. Neighbouring scores have neighbouring codes, and
// the low bits of whole numbers are equal, so the scores of a block need few bytes each:
//
//   code = base + (steps << shift)         packed = steps << below, in `width` bytes, 0 to 8
//
// The lowest bits of these bytes, `below` many, may be used for something else.
//
// The score is never NaN nor -0.0.
inline uint64_t ScoreCode(double score) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const uint64_t bits = std::bit_cast<uint64_t>(score);
  return bits & kSign ? ~bits : bits | kSign;
}

inline double ScoreOf(uint64_t code) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  return std::bit_cast<double>(code & kSign ? code ^ kSign : ~code);
}

// The score as sets store it: 0.0 for -0.0, which equals it.
inline double WithoutNegativeZero(double score) { return score + 0.0; }

// How a block packs its codes.
struct ScoreFrame {
  uint64_t base = 0;
  uint8_t shift = 0;
  uint8_t width = 0;
  uint8_t below = 0;

  // The tightest frame for codes from `min` to `max` that differ only in the bits of `differing`.
  static ScoreFrame Covering(uint64_t min, uint64_t max, uint64_t differing) {
    const int shift = differing == 0 ? 0 : std::countr_zero(differing);
    return {min, static_cast<uint8_t>(shift),
            static_cast<uint8_t>(PackedWidth((max - min) >> shift))};
  }

  bool Holds(uint64_t code) const {
    const uint64_t distance = code - base;
    return code >= base && distance >> shift <= MostSteps() &&
           (distance >> shift << shift) == distance;
  }
  uint64_t Pack(uint64_t code) const { return (code - base) >> shift << below; }
  uint64_t Unpack(uint64_t packed) const { return base + (packed >> below << shift); }

  uint64_t MostSteps() const { return PackedMax(width) >> below; }

  // The fewest steps that reach or exceed `code`, which is not below base. May be more than the
  // frame holds.
  uint64_t StepsUp(uint64_t code) const {
    const uint64_t distance = code - base;
    return (distance >> shift) + ((distance >> shift << shift) != distance);
  }
};

}  // namespace zsetd
