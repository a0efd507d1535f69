#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/util/time.h"

namespace zsetd {

// How often something took how long, to within one part in 128: a count for each microsecond up to
// 255, and from there on 128 counts for each doubling (Gil Tene's HdrHistogram has this layout).
//
//   microseconds   0 1 2 ... 255 | 256-257 258-259 ... 510-511 | 512-515 ... 1020-1023 | ...
//
// Takes memory up to the longest time that was recorded: 2 KB within 255 microseconds, and another
// kilobyte for each doubling.
class LatencyHistogram {
 public:
  void Record(Micros time) {
    const auto micros = static_cast<uint64_t>(time.count());
    if (micros < kExactCounts && !counts_.empty()) [[likely]] {
      ++counts_[micros];
    } else {
      ++CountOf(time);
    }
    ++count_;
  }

  // Adds all that the other one has recorded. O(counts).
  void Add(const LatencyHistogram& other);

  uint64_t count() const { return count_; }

  // The number that took this time or less, including those that cannot be distinguished from it.
  // O(counts).
  uint64_t CountUpTo(Micros time) const;

  // The time within which this percentage of all stayed, the longest that it may have been; 0 if
  // nothing was recorded. O(counts).
  Micros Percentile(double percent) const;

 private:
  static constexpr int kExactBits = 8;  // times of up to this many bits have a count of their own
  static constexpr size_t kExactCounts = size_t{1} << kExactBits;
  static constexpr uint64_t kPerDoubling = kExactCounts / 2;

  static size_t PlaceOf(Micros time);
  static Micros LongestAt(size_t place);
  uint64_t& CountOf(Micros time);

  std::vector<uint64_t> counts_;  // empty, or at least kExactCounts
  uint64_t count_ = 0;
};

}  // namespace zsetd
