#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/allocation.h"

namespace zsetd {

// A growing array that never moves: segments of 4 KB, so that no append copies what is there.
// T is a plain value; new ones are zero.
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
    --size_;
    const size_t needed = (size_ + kPerSegment - 1) / kPerSegment;
    if (needed + 1 < segments_.size()) segments_.pop_back();
  }

  // The heap bytes, allocator rounding included. O(1).
  size_t BytesUsed() const {
    if (segments_.empty()) return 0;
    return segments_.size() * AllocatedBytes(segments_[0].get()) + AllocatedBytes(segments_.data());
  }

 private:
  static constexpr size_t kPerSegment = 4096 / sizeof(T);

  std::vector<std::unique_ptr<T[]>> segments_;
  size_t size_ = 0;
};

}  // namespace zsetd
