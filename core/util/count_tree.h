#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace zsetd {

// The numbers of objects at positions 0 .. size-1, with their prefix sums. Fenwick 1994, "A new
// data structure for cumulative frequency tables": node i holds the sum of the lowbit(i) counts
// that end at position i - 1. `size` is a power of two. Each call is O(log size).
template <size_t size>
class CountTree {
 public:
  static_assert(std::has_single_bit(size));

  // The sum of all counts. O(1).
  uint64_t total() const { return sums_[size]; }

  // Adds to the count at `position`, which does not become negative.
  void Add(size_t position, int64_t difference) {
    assert(position < size);
    for (size_t node = position + 1; node <= size; node += node & -node) sums_[node] += difference;
  }

  // The sum of the counts at the positions before `position`.
  uint64_t Before(size_t position) const {
    assert(position <= size);
    uint64_t sum = 0;
    for (size_t node = position; node != 0; node &= node - 1) sum += sums_[node];
    return sum;
  }

  // The position of object number `object`, if the objects are numbered by position from 0 on;
  // `size` if there are not that many.
  size_t PositionOf(uint64_t object) const {
    if (object >= total()) return size;
    size_t node = 0;
    for (size_t step = size / 2; step != 0; step /= 2) {
      if (sums_[node + step] > object) continue;
      node += step;
      object -= sums_[node];
    }
    return node;
  }

 private:
  std::array<uint64_t, size + 1> sums_{};
};

}  // namespace zsetd
