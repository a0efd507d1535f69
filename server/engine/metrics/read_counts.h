#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/util/time.h"
#include "server/engine/metrics/command_stats.h"
#include "server/engine/metrics/slow_log.h"

namespace zsetd {

// The measurements of the requests that one thread ran while it shared the engine, until
// Metrics::Gather() adds them to those of the server.
struct ReadCounts {
  // A command that took long enough for the latency monitor.
  struct Spike {
    const Command* command;
    Micros took;
    Millis at;
  };

  uint64_t hits = 0;  // keys that were looked up and exist
  uint64_t misses = 0;
  Micros command_time{0};
  std::vector<size_t> used;            // the indexes of the rows that ran
  std::vector<CommandStats> commands;  // by the index of the row; empty until one runs
  std::vector<SlowCommand> slow;       // without ids
  std::vector<Spike> spikes;
};

}  // namespace zsetd
