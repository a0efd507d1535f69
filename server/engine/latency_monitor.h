#pragma once

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

// What took long in one second: the longest time of all that did.
struct LatencySample {
  int64_t second = 0;  // since the Unix epoch
  Millis took{0};
};

// What took long of one kind: the last samples, kSamples at most and at least one, and the longest
// time ever.
struct LatencySeries {
  static constexpr size_t kSamples = 160;  // as Redis

  std::deque<LatencySample> samples;  // the oldest first
  Millis worst{0};
};

// Remembers what took latency-monitor-threshold or longer, by kind: `command`, `fast-command` for
// those that should be, `expire-cycle` for freeing what has come due.
class LatencyMonitor {
 public:
  using Events = std::map<std::string, LatencySeries, std::less<>>;

  // Notes that it took so long, unless that is less than `threshold_ms`, or that is 0.
  void Consider(std::string_view event, Micros took, Millis now, int64_t threshold_ms) {
    const auto millis = std::chrono::duration_cast<Millis>(took);
    if (threshold_ms > 0 && millis.count() >= threshold_ms) Note(event, millis, now);
  }

  const Events& events() const { return events_; }

  bool Reset(std::string_view event) { return events_.erase(std::string(event)) > 0; }

 private:
  void Note(std::string_view event, Millis took, Millis now);

  Events events_;
};

}  // namespace zsetd
