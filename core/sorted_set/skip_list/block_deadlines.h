#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sorted_set/block/deadline_frame.h"
#include "core/util/segmented_array.h"

namespace zsetd {

// The earliest deadline of each block of a list, and so the earliest of all:
//
//   level 1   [ the earliest of 16 | the earliest of 16 | ... ]
//   level 0   [ d0 d1 ... d15      | d16 ...                  ]    by block ID
//
// Not in the separator levels: their nodes are as large as an allocation, and searches by score or
// rank read them without needing deadlines. A list has one of these while any of its elements has a
// deadline. Blocks that are not in the list count as being without deadlines.
class BlockDeadlines {
 public:
  BlockDeadlines() : levels_(1) {}

  // Sets the earliest deadline of a block, or kNoDeadline. O(log n), and the first time for a block
  // with a new ID O(difference to the highest so far).
  void Set(uint32_t id, uint64_t earliest);

  uint64_t Of(uint32_t id) const {  // or kNoDeadline; O(1)
    return id < levels_[0].size() ? levels_[0][id] : kNoDeadline;
  }

  // The earliest of all, or kNoDeadline. O(1).
  uint64_t Earliest() const;

  // A block that has it; there is one. O(log n).
  uint32_t EarliestBlock() const;

  size_t BytesUsed() const;

 private:
  static constexpr size_t kFanout = 16;

  void Append();
  uint64_t EarliestOf(size_t level, size_t group) const;

  std::vector<SegmentedArray<uint64_t>> levels_;  // the last one has a single number, or none
};

}  // namespace zsetd
