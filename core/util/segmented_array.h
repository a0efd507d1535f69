#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/util/allocation.h"

namespace zsetd {

// An array that grows and shrinks at its end, for a few elements or many millions: no step copies,
// clears or allocates more than 4 KB.
//
//   first     [ 0 1 2 ... ]                         4 elements of room, 8, ... up to 4 KB, by a
//                                                   quarter of a power of two from 16 elements on
//   directory [ [ * * ... ] [ * * ... ] [ * ] ]     of segments of 4 KB that follow, 512 in a list
//                 |
//             [ 512 513 514 ... ]
//
// T is a plain value; new ones are zero. Alternating additions and removals at a segment's border
// allocate and free it each time, so callers should keep a few spare elements.
template <class T>
class SegmentedArray {
 public:
  T& operator[](size_t i) { return const_cast<T&>(std::as_const(*this)[i]); }
  const T& operator[](size_t i) const {
    assert(i < size_);
    if (i < kPerSegment) return first_[i];
    const size_t segment = i / kPerSegment - 1;
    return directory_[segment / kPerList][segment % kPerList][i % kPerSegment];
  }

  size_t size() const { return size_; }

  void Append(T value) {
    if (size_ < kPerSegment ? size_ == first_room_ : size_ % kPerSegment == 0) Grow();
    (*this)[size_++] = value;
  }

  void RemoveLast() {
    assert(size_ > 0);
    --size_;
    if (size_ >= kPerSegment) {
      if (size_ % kPerSegment == 0) RemoveSegment();
    } else if (size_ <= first_room_ / 4) {
      SetFirstRoom(size_ == 0 ? 0 : std::max(kLeastRoom, first_room_ / 2));
    }
  }

  // The heap bytes, allocator rounding included. O(1).
  size_t BytesUsed() const {
    const size_t first = AllocatedBytes(first_.get());
    if (directory_.empty()) return first;
    const size_t full_lists = directory_.size() - 1;
    return first + AllocatedBytes(directory_.data()) +
           full_lists * AllocatedBytes(directory_[0].data()) +
           AllocatedBytes(directory_.back().data()) +
           (size_ - 1) / kPerSegment * AllocatedBytes(directory_[0][0].get());
  }

 private:
  using Segment = std::unique_ptr<T[]>;

  static constexpr size_t kPerSegment = 4096 / sizeof(T);
  static constexpr size_t kPerList = 4096 / sizeof(Segment);
  static constexpr size_t kLeastRoom = 4;

  void Grow() {
    if (size_ < kPerSegment) return SetFirstRoom(NextRoom(first_room_));
    if (directory_.empty() || directory_.back().size() == kPerList) directory_.emplace_back();
    directory_.back().push_back(std::make_unique<T[]>(kPerSegment));
  }

  // The allocator rounds to quarters of powers of two, too, so nothing is lost in between.
  static size_t NextRoom(size_t room) {
    constexpr size_t kSmall = 16;
    if (room < kSmall) return std::max(kLeastRoom, 2 * room);
    return std::min(kPerSegment, room + std::bit_floor(room) / 4);
  }

  void RemoveSegment() {
    directory_.back().pop_back();
    if (directory_.back().empty()) directory_.pop_back();
  }

  void SetFirstRoom(size_t room) {
    if (room == first_room_) return;
    Segment moved = room == 0 ? nullptr : std::make_unique<T[]>(room);
    std::copy_n(first_.get(), size_, moved.get());
    first_ = std::move(moved);
    first_room_ = room;
  }

  Segment first_;
  size_t first_room_ = 0;  // elements
  std::vector<std::vector<Segment>> directory_;
  size_t size_ = 0;
};

}  // namespace zsetd
