#include "core/sorted_set/skip_list/block_deadlines.h"

#include <algorithm>
#include <cassert>

#include "core/util/allocation.h"

namespace zsetd {

void BlockDeadlines::Set(uint32_t id, uint64_t earliest) {
  if (id >= levels_[0].size() && earliest == kNoDeadline) return;
  while (id >= levels_[0].size()) Append();
  size_t at = id;
  for (size_t level = 0;; ++level) {
    if (levels_[level][at] == earliest) return;
    levels_[level][at] = earliest;
    if (level + 1 == levels_.size()) return;
    at /= kFanout;
    earliest = EarliestOf(level, at);
  }
}

// The earliest of a group of numbers of a level.
uint64_t BlockDeadlines::EarliestOf(size_t level, size_t group) const {
  const SegmentedArray<uint64_t>& numbers = levels_[level];
  const size_t end = std::min(numbers.size(), (group + 1) * kFanout);
  uint64_t earliest = kNoDeadline;
  for (size_t at = group * kFanout; at < end; ++at) earliest = std::min(earliest, numbers[at]);
  return earliest;
}

void BlockDeadlines::Append() {
  levels_[0].Append(kNoDeadline);
  for (size_t level = 1; level < levels_.size(); ++level) {
    const size_t groups = (levels_[level - 1].size() + kFanout - 1) / kFanout;
    if (levels_[level].size() < groups) levels_[level].Append(kNoDeadline);
  }
  if (levels_.back().size() == 1) return;
  const uint64_t first = EarliestOf(levels_.size() - 1, 0);
  levels_.emplace_back().Append(first);
}

uint64_t BlockDeadlines::Earliest() const {
  return levels_.back().size() == 0 ? kNoDeadline : levels_.back()[0];
}

uint32_t BlockDeadlines::EarliestBlock() const {
  const uint64_t earliest = Earliest();
  assert(earliest != kNoDeadline);
  size_t at = 0;
  for (size_t level = levels_.size() - 1; level-- > 0;) {
    at *= kFanout;
    while (levels_[level][at] != earliest) ++at;
  }
  return static_cast<uint32_t>(at);
}

size_t BlockDeadlines::BytesUsed() const {
  size_t bytes = AllocatedBytes(this) + AllocatedBytes(levels_.data());
  for (const SegmentedArray<uint64_t>& level : levels_) bytes += level.BytesUsed();
  return bytes;
}

}  // namespace zsetd
