#include "server/engine/support/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace zsetd {

// The count's place for a time.
size_t LatencyHistogram::PlaceOf(Micros time) {
  const auto value = static_cast<uint64_t>(std::max(time.count(), Micros::rep{0}));
  const int shift = std::max(static_cast<int>(std::bit_width(value)) - kExactBits, 0);
  return static_cast<size_t>(shift) * kPerDoubling + (value >> shift);
}

// The longest time that is counted there.
Micros LatencyHistogram::LongestAt(size_t place) {
  const uint64_t shift = place < 2 * kPerDoubling ? 0 : place / kPerDoubling - 1;
  const uint64_t first = (place - shift * kPerDoubling) << shift;
  return Micros(static_cast<Micros::rep>(first + (uint64_t{1} << shift) - 1));
}

uint64_t& LatencyHistogram::CountOf(Micros time) {
  const size_t place = PlaceOf(time);
  if (place >= counts_.size()) counts_.resize(std::max(place + 1, kExactCounts));
  return counts_[place];
}

void LatencyHistogram::Add(const LatencyHistogram& other) {
  counts_.resize(std::max(counts_.size(), other.counts_.size()));
  for (size_t place = 0; place < other.counts_.size(); ++place) {
    counts_[place] += other.counts_[place];
  }
  count_ += other.count_;
}

uint64_t LatencyHistogram::CountUpTo(Micros time) const {
  const size_t places = std::min(PlaceOf(time) + 1, counts_.size());
  uint64_t count = 0;
  for (size_t place = 0; place < places; ++place) count += counts_[place];
  return count;
}

Micros LatencyHistogram::Percentile(double percent) const {
  assert(0 <= percent && percent <= 100);
  const double wanted = std::round(percent / 100 * static_cast<double>(count_));
  const auto rank = std::max(static_cast<uint64_t>(wanted), uint64_t{1});
  uint64_t count = 0;
  for (size_t place = 0; place < counts_.size(); ++place) {
    count += counts_[place];
    if (count >= rank) return LongestAt(place);
  }
  return Micros(0);
}

}  // namespace zsetd
