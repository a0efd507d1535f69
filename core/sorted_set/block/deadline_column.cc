#include "core/sorted_set/block/deadline_column.h"

#include <algorithm>
#include <cassert>

namespace zsetd {

uint64_t DeadlineColumn::Earliest(size_t first, size_t last) const {
  uint64_t earliest = kNoDeadline;
  for (size_t i = first; i < last; ++i) {
    earliest = std::min(earliest, PackedAt(i) - 1);  // that of none is the largest number
  }
  return earliest == kNoDeadline ? kNoDeadline : frame().base + earliest;
}

bool DeadlineColumn::HasAny(size_t count) const {
  for (size_t i = 0; i < count; ++i) {
    if (PackedAt(i) != 0) return true;
  }
  return false;
}

void DeadlineColumn::Write(const DeadlineFrame& frame, std::span<const uint64_t> deadlines) {
  assert(frame.base >= 1 && frame.base <= kMostDeadline);
  assert(frame.width >= 1 && frame.width <= DeadlineFrame::kMostWidth);
  StorePacked(at_, kBaseBytes, frame.base);
  at_[kBaseBytes] = static_cast<char>(frame.width);
  BitWriter writer(bits());
  for (const uint64_t deadline : deadlines) {
    assert(frame.Holds(deadline));
    writer.Write(frame.Pack(deadline), frame.width);
  }
}

void DeadlineColumn::Insert(size_t i, size_t count) {
  assert(i <= count);
  const size_t at = i * width(), end = count * width();
  MoveBits(bits(), at, at + width(), end - at);
  StoreBits(bits(), at, width(), 0);
}

void DeadlineColumn::Erase(size_t first, size_t last, size_t count) {
  assert(first < last && last <= count);
  const size_t end = count * width();
  MoveBits(bits(), last * width(), first * width(), end - last * width());
}

}  // namespace zsetd
