#include "core/keyspace/access_tracker.h"

#include <algorithm>

namespace zsetd {
namespace {

constexpr uint8_t kFirstCount = 5;  // so that a new key is not evicted first
constexpr uint8_t kMostCount = 255;

}  // namespace

AccessTracker::Stamp AccessTracker::OfNewKey() const {
  return rule_.lfu ? OfCount(kFirstCount) : Seconds();
}

AccessTracker::Stamp AccessTracker::OfIdle(std::chrono::seconds idle) const {
  constexpr std::chrono::seconds kLongest{0xffffff};
  return (Seconds() - static_cast<Stamp>(std::min(idle, kLongest).count())) & 0xffffff;
}

std::chrono::seconds AccessTracker::IdleTime(Stamp stamp) const {
  return std::chrono::seconds((Seconds() - stamp) & 0xffffff);
}

uint8_t AccessTracker::Count(Stamp stamp) const {
  const auto count = static_cast<uint8_t>(stamp & 0xff);
  if (rule_.decay_minutes == 0) return count;
  const int64_t passed = (Minutes() - (stamp >> 8)) & 0xffff;
  const int64_t faded = passed / rule_.decay_minutes;
  return faded >= count ? 0 : static_cast<uint8_t>(count - faded);
}

// The count rises with a probability of 1 in (count - first count) * factor + 1.
AccessTracker::Stamp AccessTracker::CountedOnce(Stamp stamp) {
  const uint8_t count = Count(stamp);
  if (count == kMostCount) return OfCount(count);
  const uint64_t above_first = std::max<uint8_t>(count, kFirstCount) - kFirstCount;
  const bool rises = rng_.Below(above_first * static_cast<uint64_t>(rule_.log_factor) + 1) == 0;
  return OfCount(static_cast<uint8_t>(count + rises));
}

uint64_t AccessTracker::EvictionRank(Stamp stamp) const {
  return rule_.lfu ? kMostCount - Count(stamp) : static_cast<uint64_t>(IdleTime(stamp).count());
}

}  // namespace zsetd
