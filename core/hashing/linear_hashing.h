// Linear hashing: which bucket a hash belongs to in a table that grows by one bucket at a time.
// Litwin 1980, "Linear hashing: a new tool for file and table addressing".
//
// Hashes are distinguished by their low bits. When a bucket is added at the end, the next old
// bucket in turn is split: one more bit of a hash decides between both. Here four buckets have
// become six; 0 and 1 are split already, 2 and 3 are not:
//
//     bucket         0      1      2      3      4      5
//     hashes end   ..000  ..001  ..10   ..11   ..100  ..101
//                    └──────┼─────────────────────┘      │
//                           └────────────────────────────┘
//
// So a hash's bucket is the number in its low bits, as many bits as the largest bucket number has.
// If that bucket does not exist yet, one bit fewer is used.
//
// A scan orders hashes by their bits in reverse, lowest bit first. In that order each bucket is an
// interval. Adding a bucket cuts an interval in two; removing one joins two neighbours:
//
//     backwards   000..   001..   01..    100..   101..   11..
//     bucket     |   0   |   4   |   2   |   1   |   5   |   3   |
//     scanned     ──────────────►cursor
//
// The cursor is a point on this line, with its bits reversed again so that it is a small number.
// All hashes left of it have been passed, even if buckets were added or removed between two steps.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace zsetd {

// The buckets 0 .. count()-1, as numbers only. All O(1).
class LinearHashing {
 public:
  LinearHashing() = default;
  explicit LinearHashing(size_t count) : count_(count), level_(std::bit_floor(count)) {}

  size_t count() const { return count_; }

  // The bucket of a hash, or of a scan's cursor. Precondition: count() > 0.
  size_t NumberOf(uint64_t hash) const {
    assert(count_ > 0);
    const size_t number = hash & (2 * level_ - 1);
    return number < count_ ? number : hash & (level_ - 1);
  }

  // The number of low bits that distinguish the hashes of the bucket from all others.
  int DepthOf(size_t number) const {
    assert(number < count_);
    const bool is_split = number >= level_ || number < count_ - level_;
    return std::countr_zero(level_) + (is_split ? 1 : 0);
  }

  // The bucket from which bucket `number` was or will be split; for bucket 0, itself.
  static size_t OriginOf(size_t number) { return number - std::bit_floor(number); }

  // Whether a hash lies left of a scan's cursor on the line shown above.
  static bool IsBefore(uint64_t hash, uint64_t cursor) {
    const uint64_t difference = hash ^ cursor;
    const uint64_t first_difference = difference & -difference;  // the lowest bit comes first
    return (cursor & first_difference) != 0;
  }

  void Add() { *this = LinearHashing(count_ + 1); }
  void Remove() {
    assert(count_ > 0);
    *this = LinearHashing(count_ - 1);
  }

  // The cursor after the bucket NumberOf(cursor); 0 if that is the last one on the line.
  uint64_t CursorAfter(uint64_t cursor) const {
    const uint64_t number = NumberOf(cursor);
    const uint64_t mask = (uint64_t{1} << DepthOf(number)) - 1;
    // One is added at the left end: the leading ones become zeros, the first zero a one.
    const uint64_t first_zero = std::bit_floor(~number & mask);
    return first_zero == 0 ? 0 : (number & (first_zero - 1)) | first_zero;
  }

 private:
  size_t count_ = 0;
  size_t level_ = 0;  // the largest power of two that is not above the count
};

}  // namespace zsetd
