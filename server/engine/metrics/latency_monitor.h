#pragma once

#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/util/time.h"

namespace zsetd {

// The longest latency within one second.
struct LatencySample {
  int64_t second = 0;  // since the Unix epoch
  Millis took{0};
};

// The samples of one event: the latest ones, at least one and at most kSamples, and the longest
// time ever.
struct LatencySeries {
  static constexpr size_t kSamples = 160;  // as Redis

  std::deque<LatencySample> samples;  // the oldest first
  Millis worst{0};
};

// Records events of latency-monitor-threshold or longer: `command`, `fast-command` for commands
// flagged as fast, `expire-cycle` for the deletion of expired keys.
class LatencyMonitor {
 public:
  using Events = std::map<std::string, LatencySeries, std::less<>>;

  // Records the time, unless it is less than `threshold_ms`, or that is 0.
  void MaybeRecord(std::string_view event, Micros took, Millis now, int64_t threshold_ms) {
    assert(threshold_ms >= 0);
    if (threshold_ms == 0) return;
    const auto millis = std::chrono::duration_cast<Millis>(took);
    if (millis.count() >= threshold_ms) Record(event, millis, now);
  }

  const Events& events() const { return events_; }

  bool Reset(std::string_view event) { return events_.erase(std::string(event)) > 0; }

 private:
  void Record(std::string_view event, Millis took, Millis now);

  Events events_;
};

}  // namespace zsetd
