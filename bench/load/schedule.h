#pragma once

#include <chrono>
#include <cstddef>

#include "bench/load/results.h"

namespace zsetd {

// The times at which batches of requests are due: at a fixed rate, which does not depend on the
// server, or without a rate as soon as a client is idle. If the server delays a request, its
// latency counts from the time when it was due. So a stall affects all requests that were due
// during it, not only one for each client.
class Schedule {
 public:
  // `rate` is in batches per second; 0 means no fixed rate.
  Schedule(double rate, TimePoint start) : rate_(rate), start_(start) {}

  // Returns the time at which batch number `batch`, counted from 0, is due.
  TimePoint DueAt(size_t batch, TimePoint now) const {
    if (rate_ == 0) return now;
    const std::chrono::duration<double> since_start(static_cast<double>(batch) / rate_);
    return start_ + std::chrono::duration_cast<Clock::duration>(since_start);
  }

 private:
  const double rate_;
  const TimePoint start_;
};

}  // namespace zsetd
