#include "core/keyspace/access_tracker.h"

#include <algorithm>

namespace zsetd {
namespace {

constexpr uint8_t kFirstCount = 5;  // so that a new key is not the first to go
constexpr uint8_t kMostCount = 255;

}  // namespace

UseMeter::Mark UseMeter::OfNewKey() const {
  return rule_.counts ? OfCount(kFirstCount) : Seconds();
}

UseMeter::Mark UseMeter::OfIdle(std::chrono::seconds idle) const {
  constexpr std::chrono::seconds kLongest{0xffffff};
  return (Seconds() - static_cast<Mark>(std::min(idle, kLongest).count())) & 0xffffff;
}

std::chrono::seconds UseMeter::IdleTime(Mark mark) const {
  return std::chrono::seconds((Seconds() - mark) & 0xffffff);
}

uint8_t UseMeter::Count(Mark mark) const {
  const auto count = static_cast<uint8_t>(mark & 0xff);
  if (rule_.fade_minutes == 0) return count;
  const int64_t passed = (Minutes() - (mark >> 8)) & 0xffff;
  const int64_t faded = passed / rule_.fade_minutes;
  return faded >= count ? 0 : static_cast<uint8_t>(count - faded);
}

// The chance is 1 in (count - first count) * factor + 1.
UseMeter::Mark UseMeter::CountedOnce(Mark mark) {
  const uint8_t count = Count(mark);
  if (count == kMostCount) return OfCount(count);
  const uint64_t above_first = std::max<uint8_t>(count, kFirstCount) - kFirstCount;
  const bool rises = rng_.Below(above_first * static_cast<uint64_t>(rule_.log_factor) + 1) == 0;
  return OfCount(static_cast<uint8_t>(count + rises));
}

uint64_t UseMeter::EvictionRank(Mark mark) const {
  return rule_.counts ? kMostCount - Count(mark) : static_cast<uint64_t>(IdleTime(mark).count());
}

}  // namespace zsetd
