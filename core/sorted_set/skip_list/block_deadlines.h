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
// The separator levels do not contain them: their nodes exactly fill an allocation, and searches by
// score or rank do not need deadlines. A list has this object while any of its elements has a
// deadline. Blocks that are not in the list count as blocks without deadlines.
class BlockDeadlines {
 public:
  BlockDeadlines() : levels_(1) {}

  // Sets the earliest deadline of a block, or kNoDeadline. O(log n); for a new highest ID
  // O(difference to the previous one).
  void Set(uint32_t id, uint64_t earliest);

  uint64_t Of(uint32_t id) const {  // or kNoDeadline; O(1)
    return id < levels_[0].size() ? levels_[0][id] : kNoDeadline;
  }

  // The earliest of all, or kNoDeadline. O(1).
  uint64_t Earliest() const;

  // A block with the earliest deadline. Precondition: a block has a deadline. O(log n).
  uint32_t EarliestBlock() const;

  size_t BytesUsed() const;

 private:
  static constexpr size_t kFanout = 16;

  void Append();
  uint64_t EarliestOf(size_t level, size_t group) const;

  std::vector<SegmentedArray<uint64_t>> levels_;  // the last level has one number, or none
};

}  // namespace zsetd
