#pragma once

#include <cstdint>

#include "server/engine/support/latency_histogram.h"

namespace zsetd {

// The INFO commandstats of one command.
struct CommandStats {
  uint64_t calls = 0;     // ran, well or not
  uint64_t micros = 0;    // the time these took
  uint64_t rejected = 0;  // refused before they ran
  uint64_t failed = 0;    // ran and replied an error

  LatencyHistogram latency;  // of those that ran while latency-tracking was on
};

}  // namespace zsetd
