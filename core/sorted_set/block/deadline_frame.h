#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "core/util/packed_bits.h"

namespace zsetd {

// A deadline is the number of milliseconds since 1970, from 1 to kMostDeadline.
constexpr uint64_t kMostDeadline = (uint64_t{1} << 46) - 1;  // Redis's limit for hash fields

// The deadline of an element without one: later than any other.
constexpr uint64_t kNoDeadline = ~uint64_t{0};

// The encoding of the deadlines of a block as short integers:
//
//   deadline = base + packed - 1,   packed = 0: none          of `width` bits each
//
// Deadlines within a day take 27 bits, within a week 30; one deadline for all takes one bit. The
// worst case, 1 next to kMostDeadline, takes 47.
//
// Invariant: base is a deadline, and the width is from 1 to kMostWidth.
struct DeadlineFrame {
  static constexpr int kMostWidth = 47;

  uint64_t base = 0;
  uint8_t width = 0;

  // The frame for these deadlines, one of which is not kNoDeadline. It holds an eighth more than
  // their range. So if each new deadline is a little later than all earlier ones, and old ones are
  // removed, few additions pack the column again. If the deadline at `added` is the new earliest
  // one, most of the unused range lies below it, like for scores.
  static DeadlineFrame Covering(std::span<const uint64_t> deadlines,
                                std::optional<size_t> added = std::nullopt) {
    uint64_t earliest = kNoDeadline, end = 0;
    for (const uint64_t deadline : deadlines) {
      earliest = std::min(earliest, deadline);
      end = std::max(end, deadline + 1);  // that of none is 0
    }
    const uint64_t highest = end - earliest;  // packed
    DeadlineFrame frame = {earliest, static_cast<uint8_t>(std::bit_width(highest + highest / 8))};
    if (!added || deadlines[*added] != earliest) return frame;
    const uint64_t unused = LowestBits(frame.width) - highest;
    frame.base -= std::min(unused - unused / 8, frame.base - 1);
    return frame;
  }

  bool Holds(uint64_t deadline) const {
    return deadline == kNoDeadline || (deadline >= base && deadline - base < LowestBits(width));
  }
  uint64_t Pack(uint64_t deadline) const {
    return deadline == kNoDeadline ? 0 : deadline - base + 1;
  }
  uint64_t Unpack(uint64_t packed) const { return packed == 0 ? kNoDeadline : base + packed - 1; }
};

}  // namespace zsetd
