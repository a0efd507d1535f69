#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "core/util/allocation_size.h"

namespace zsetd {

// Owners of blocks in a row, which usually grows at its end and shrinks at its beginning. Most
// streams and groups have at most one block, so an empty row takes no heap memory and a short one
// little; a std::deque takes 576 bytes.
//
//     owners_   [ null | null | * | * | * ]      null: removed from the front
//                             first_
//
// Appending, and removing at either end, are O(1) amortised; other changes move the owners of the
// shorter side. `Owner` is a pointer that can be moved only, null by default. A change invalidates
// iterators and references to owners, but moves no block. Movable; a moved-from row is empty.
template <class Owner>
class BlockRow {
 public:
  BlockRow() = default;
  BlockRow(BlockRow&& other) noexcept { *this = std::move(other); }
  BlockRow& operator=(BlockRow&& other) noexcept {
    owners_ = std::exchange(other.owners_, {});
    first_ = std::exchange(other.first_, 0);
    return *this;
  }

  size_t size() const { return owners_.size() - first_; }
  bool empty() const { return size() == 0; }

  Owner& operator[](size_t index) { return owners_[first_ + index]; }
  const Owner& operator[](size_t index) const { return owners_[first_ + index]; }
  Owner& front() { return (*this)[0]; }
  const Owner& front() const { return (*this)[0]; }
  Owner& back() { return owners_.back(); }
  const Owner& back() const { return owners_.back(); }

  auto begin() { return owners_.begin() + static_cast<ptrdiff_t>(first_); }
  auto begin() const { return owners_.begin() + static_cast<ptrdiff_t>(first_); }
  auto end() { return owners_.end(); }
  auto end() const { return owners_.end(); }

  void Append(Owner owner) { owners_.push_back(std::move(owner)); }

  // Inserts the owner before the one at `index`, which may be size().
  void Insert(size_t index, Owner owner) {
    assert(index <= size());
    if (index >= size() - index) {
      owners_.insert(begin() + static_cast<ptrdiff_t>(index), std::move(owner));
      return;
    }
    if (first_ == 0) MakeRoomInFront();
    const auto place = begin() + static_cast<ptrdiff_t>(index);
    std::move(begin(), place, begin() - 1);
    --first_;
    *(place - 1) = std::move(owner);
  }

  void Remove(size_t index) {
    assert(index < size());
    const auto place = begin() + static_cast<ptrdiff_t>(index);
    if (index < size() - index) {
      std::move_backward(begin(), place, place + 1);
      front() = Owner();
      ++first_;
    } else {
      owners_.erase(place);
    }
    FreeUnused();
  }

  // The heap bytes of the row, without the blocks. O(1).
  size_t BytesUsed() const { return AllocationSize(owners_.capacity() * sizeof(Owner)); }

 private:
  void MakeRoomInFront() {
    const size_t room = size() + 1;
    std::vector<Owner> moved(room);
    moved.reserve(room + size());
    std::move(begin(), end(), std::back_inserter(moved));
    owners_ = std::move(moved);
    first_ = room;
  }

  void FreeUnused() {
    constexpr size_t kMostRatio = 4;  // of capacity to size
    if (first_ > size()) {
      owners_.erase(owners_.begin(), begin());
      first_ = 0;
    }
    if (owners_.capacity() > kMostRatio * owners_.size()) owners_.shrink_to_fit();
  }

  std::vector<Owner> owners_;
  size_t first_ = 0;  // the number of removed owners in front, which are null
};

}  // namespace zsetd
