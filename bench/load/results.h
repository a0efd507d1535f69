#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "server/engine/support/latency_histogram.h"

namespace zsetd {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

// The results of a run: the wait of each request for its reply, counted from the time it was due.
class Results {
 public:
  void Record(Clock::duration latency) {
    latencies_.Record(std::chrono::duration_cast<Micros>(latency));
  }
  size_t answered() const { return latencies_.count(); }

  // One line of JSON; names include the units. `elapsed` is how long the run took, `cpu` the
  // processor time that the load itself took.
  std::string Json(Clock::duration elapsed, Clock::duration cpu) const;

 private:
  LatencyHistogram latencies_;
};

}  // namespace zsetd
