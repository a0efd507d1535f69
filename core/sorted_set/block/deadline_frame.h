#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "core/util/packed_integer.h"

namespace zsetd {

// The deadlines of a block's elements are a column of packed integers behind its scores, if any
// element has one:
//
//   base | width | d0 d1 d2 ...            deadline = base + d - 1,  d = 0: none
//
// A deadline is the number of milliseconds since 1970, from 1 to kMostDeadline. Milliseconds within
// seven weeks take four bytes each.
constexpr uint64_t kMostDeadline = (uint64_t{1} << 46) - 1;  // as Redis limits those of hash fields

// That of an element without a deadline: later than any.
constexpr uint64_t kNoDeadline = ~uint64_t{0};

struct DeadlineFrame {
  static constexpr int kBaseBytes = 6;
  static constexpr size_t kBytes = kBaseBytes + 1;  // of base and width

  uint64_t base = 0;
  uint8_t width = 0;  // of a packed deadline, 1 to 6 bytes

  // The tightest frame for these deadlines, one of which is kNoDeadline or less. Where that at
  // `added` is the new earliest one, most of the unused range lies below it, as it does for scores:
  // deadlines that come in descending order change the frame a few times only.
  static DeadlineFrame Covering(std::span<const uint64_t> deadlines,
                                std::optional<size_t> added = std::nullopt) {
    uint64_t earliest = kNoDeadline, latest = 0;
    for (const uint64_t deadline : deadlines) {
      earliest = std::min(earliest, deadline);
      if (deadline != kNoDeadline) latest = std::max(latest, deadline);
    }
    DeadlineFrame frame = {earliest, static_cast<uint8_t>(PackedWidth(latest - earliest + 1))};
    if (!added || deadlines[*added] != earliest) return frame;
    const uint64_t unused = PackedMax(frame.width) - (latest - earliest + 1);
    frame.base -= std::min(unused - unused / 8, frame.base - 1);
    return frame;
  }

  static DeadlineFrame Load(const char* at) {
    DeadlineFrame frame;
    std::memcpy(&frame.base, at, kBaseBytes);
    frame.width = static_cast<uint8_t>(at[kBaseBytes]);
    return frame;
  }
  void Store(char* at) const {
    std::memcpy(at, &base, kBaseBytes);
    at[kBaseBytes] = static_cast<char>(width);
  }

  bool Holds(uint64_t deadline) const {
    return deadline == kNoDeadline || (deadline >= base && deadline - base < PackedMax(width));
  }
  uint64_t Pack(uint64_t deadline) const {
    return deadline == kNoDeadline ? 0 : deadline - base + 1;
  }
  uint64_t Unpack(uint64_t packed) const { return packed == 0 ? kNoDeadline : base + packed - 1; }
};

}  // namespace zsetd
