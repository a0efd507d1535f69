#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/allocation.h"

namespace zsetd {

// An array that grows and shrinks at its end and never moves: segments of 4 KB, so that no append
// copies what is there. (The vector of them doubles at times, which moves a pointer for each 4 KB.)
// T is a plain value; new ones are zero. A segment is allocated for its first element and freed
// with it: who adds and removes in turn had better keep a few to spare.
template <class T>
class SegmentedArray {
 public:
  T& operator[](size_t i) { return segments_[i / kPerSegment][i % kPerSegment]; }
  const T& operator[](size_t i) const { return segments_[i / kPerSegment][i % kPerSegment]; }

  size_t size() const { return size_; }

  void Append(T value) {
    if (size_ == segments_.size() * kPerSegment) segments_.emplace_back(new T[kPerSegment]());
    (*this)[size_++] = value;
  }

  void RemoveLast() {
    if (--size_ % kPerSegment == 0) segments_.pop_back();
  }

  // The heap bytes, allocator rounding included. O(1).
  size_t BytesUsed() const {
    const size_t directory = AllocatedBytes(segments_.data());
    if (segments_.empty()) return directory;
    return directory + segments_.size() * AllocatedBytes(segments_[0].get());
  }

 private:
  static constexpr size_t kPerSegment = 4096 / sizeof(T);

  std::vector<std::unique_ptr<T[]>> segments_;
  size_t size_ = 0;
};

}  // namespace zsetd
