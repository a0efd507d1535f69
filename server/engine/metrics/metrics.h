#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/command/command_table.h"
#include "server/engine/config/settings.h"
#include "server/engine/metrics/command_stats.h"
#include "server/engine/metrics/latency_monitor.h"
#include "server/engine/metrics/load_meter.h"
#include "server/engine/metrics/slot_stats.h"
#include "server/engine/metrics/stats.h"

namespace zsetd {

class Caller;
struct ReadCounts;
class SlowLog;

// The server's measurements of itself: counters, the statistics of each command, the slow log, the
// latency monitor and the load. It only records: no behaviour of the server depends on it, except
// the pace of snapshots.
//
// Invariant: `commands_processed` is the sum of the calls of all commands since the last Reset().
class Metrics {
 public:
  // Both outlive it. The settings are read when they are needed.
  Metrics(const CommandTable& commands, const Settings& settings);
  Metrics(const Metrics&) = delete;
  ~Metrics();

  // A command has run for this time; it may have to run again, as one that blocks.
  void CountRun(Micros took) { stats_.command_time += took; }

  // A command has ended, after it ran for this time in total.
  void CountCall(const Caller& caller, const Command& command, Args argv, Micros took, Millis now) {
    CommandStats& stats = StatsOf(command);
    ++stats.calls;
    stats.micros += took.count();
    if (settings_.latency_tracking) stats.latency.Record(took);
    if (IsSlow(command, took)) [[unlikely]]
      RecordSlow(caller, command, argv, took, now);
    ++stats_.commands_processed;
  }

  // It was refused before it ran; or it ran and replied an error.
  void CountRejected(const Command& command) { ++StatsOf(command).rejected; }
  void CountFailed(const Command& command) { ++StatsOf(command).failed; }

  // Counts a command that ran while its thread shared the engine. Gather() adds the counts.
  void CountRead(ReadCounts& counts, const Caller& caller, const Command& command, Args argv,
                 Micros took, Millis now) const;

  // Whether such commands may run now: few of them are slow enough to be recorded one by one.
  bool MayCountReads() const;

  // The counts of a thread, from now on and no longer. They outlive that.
  void AddThread(ReadCounts& counts) { threads_.push_back(&counts); }
  void RemoveThread(ReadCounts& counts);

  // Adds the counts of all threads. Must be called before measurements are read. O(threads + rows
  // that ran since the last call).
  void Gather() {
    if (!threads_.empty()) GatherThreads();
  }

  // An error was replied; `line` is the reply.
  void CountError(std::string_view line) { stats_.CountError(line); }

  // Records rounds of the event loop: the time from the first event of each to its last reply.
  void RecordRounds(uint64_t rounds, Micros took);

  // Passes an event to the latency monitor, if it took as long as the setting asks for.
  void RecordLatency(std::string_view event, Micros took, Millis now) {
    latency_.MaybeRecord(event, took, now, settings_.latency_monitor_threshold);
  }

  // Like RecordLatency() above, for a command that has ended. The event depends on its class.
  void RecordLatency(const Command& command, Micros took, Millis now) {
    RecordLatency(command.Has(kFast) ? "fast-command" : "command", took, now);
  }

  // Samples the load. Must be called often.
  void Sample(Millis now, size_t uncounted_bytes) { load_.Sample(now, stats_, uncounted_bytes); }

  // CONFIG RESETSTAT. The slow log, the latency monitor and the peak of memory stay.
  void Reset();

  Stats& stats() { return stats_; }
  const Stats& stats() const { return stats_; }
  const CommandStats& of(const Command& command) const {
    return commands_[table_.IndexOf(command)];
  }
  SlowLog& slow_log() { return *slow_log_; }
  LatencyMonitor& latency() { return latency_; }
  const LatencyMonitor& latency() const { return latency_; }
  SlotStats& slots() { return slots_; }
  const SlotStats& slots() const { return slots_; }
  LoadMeter& load() { return load_; }
  const LoadMeter& load() const { return load_; }

 private:
  // Whether the command is recorded in the slow log (slowlog-log-slower-than).
  bool IsSlow(const Command& command, Micros took) const {
    const int64_t threshold = settings_.slowlog_log_slower_than;
    return threshold >= 0 && took.count() >= threshold && !command.Has(kSkipSlowlog);
  }
  void GatherThreads();
  void Take(ReadCounts& counts);
  void RecordSlow(const Caller& caller, const Command& command, Args argv, Micros took, Millis now);
  CommandStats& StatsOf(const Command& command) { return commands_[table_.IndexOf(command)]; }

  const CommandTable& table_;
  const Settings& settings_;
  Stats stats_;
  std::vector<CommandStats> commands_;  // by the index of the row
  const std::unique_ptr<SlowLog> slow_log_;
  LatencyMonitor latency_;
  SlotStats slots_;
  LoadMeter load_;
  std::vector<ReadCounts*> threads_;
};

}  // namespace zsetd
