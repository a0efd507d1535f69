#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/metrics/command_stats.h"
#include "server/http/main_thread.h"

namespace zsetd {

// The source of the figures of INFO: the names of its sections, and the text of a section.
struct InfoSource {
  std::vector<std::string> sections;
  std::function<std::string(std::string_view section)> text;
};

// The figures of one scrape, copied from the server.
struct MetricsSnapshot {
  struct Command {
    std::string name;  // "zadd", "client|list"
    CommandStats stats;
  };

  // The last sample of an event of the latency monitor.
  struct LatencyEvent {
    std::string name;
    int64_t second = 0;  // since the Unix epoch
    Millis took{0};
  };

  std::string info;               // all sections
  std::vector<Command> commands;  // commands that were called or refused
  size_t slow_log_length = 0;
  uint64_t slow_log_last_id = 0;
  Micros slow_log_last_took{0};
  std::vector<LatencyEvent> latency_events;
  int64_t io_threads = 1;
  int64_t min_replicas_to_write = 0;
};

// Takes a snapshot in steps on the thread of the commands: one section of INFO per step, then the
// statistics of all commands in the last step. Calls `done` on that thread.
void TakeSnapshot(Engine& engine, const InfoSource& source, const PostStep& post,
                  std::function<void(std::unique_ptr<MetricsSnapshot>)> done);

}  // namespace zsetd
