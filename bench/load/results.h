#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "server/engine/support/latency_histogram.h"

namespace zsetd {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

// The results of a run: the latency of each request, counted from the time when it was due.
class Results {
 public:
  void Record(Clock::duration latency) {
    latencies_.Record(std::chrono::duration_cast<Micros>(latency));
  }
  size_t answered() const { return latencies_.count(); }

  // Returns one line of JSON; names include the units. `elapsed` is the duration of the run, `cpu`
  // the processor time of the load generator.
  std::string Json(Clock::duration elapsed, Clock::duration cpu) const;

 private:
  LatencyHistogram latencies_;
};

}  // namespace zsetd
