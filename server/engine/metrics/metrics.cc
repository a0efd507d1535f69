#include "server/engine/metrics/metrics.h"

#include <algorithm>
#include <utility>

#include "server/engine/metrics/read_counts.h"
#include "server/engine/metrics/slow_log.h"

namespace zsetd {

Metrics::Metrics(const CommandTable& commands, const Settings& settings)
    : table_(commands),
      settings_(settings),
      commands_(commands.rows().size()),
      slow_log_(std::make_unique<SlowLog>()) {}

Metrics::~Metrics() = default;

void Metrics::RecordSlow(const Caller& caller, const Command& command, Args argv, Micros took,
                         Millis now) {
  slow_log_->Add(SlowLog::Describe(command, argv, caller, now, took),
                 static_cast<size_t>(settings_.slowlog_max_len));
}

// More than a thousand a second would take much memory until the next Gather().
bool Metrics::MayCountReads() const {
  constexpr int64_t kLeastMicros = 1000;
  const int64_t threshold = settings_.slowlog_log_slower_than;
  return threshold < 0 || threshold >= kLeastMicros;
}

void Metrics::CountRead(ReadCounts& counts, const Caller& caller, const Command& command, Args argv,
                        Micros took, Millis now) const {
  if (counts.commands.empty()) counts.commands.resize(table_.rows().size());
  const size_t index = table_.IndexOf(command);
  CommandStats& stats = counts.commands[index];
  if (stats.calls == 0) counts.used.push_back(index);
  ++stats.calls;
  stats.micros += took.count();
  counts.command_time += took;
  if (settings_.latency_tracking) stats.latency.Record(took);
  if (IsSlow(command, took)) [[unlikely]]
    counts.slow.push_back(SlowLog::Describe(command, argv, caller, now, took));
  const int64_t threshold_ms = settings_.latency_monitor_threshold;
  if (threshold_ms > 0 && took / Millis(1) >= threshold_ms) [[unlikely]]
    counts.spikes.push_back({&command, took, now});
}

void Metrics::RemoveThread(ReadCounts& counts) {
  Gather();
  std::erase(threads_, &counts);
}

void Metrics::GatherThreads() {
  for (ReadCounts* const counts : threads_) {
    if (!counts->used.empty()) Take(*counts);
  }
}

void Metrics::Take(ReadCounts& counts) {
  stats_.keyspace_hits += std::exchange(counts.hits, 0);
  stats_.keyspace_misses += std::exchange(counts.misses, 0);
  stats_.command_time += std::exchange(counts.command_time, Micros(0));
  for (const size_t index : counts.used) {
    CommandStats& read = counts.commands[index];
    commands_[index].calls += read.calls;
    commands_[index].micros += read.micros;
    commands_[index].latency.Add(read.latency);
    stats_.commands_processed += read.calls;
    read = CommandStats();
  }
  counts.used.clear();
  for (SlowCommand& slow : counts.slow) {
    slow_log_->Add(std::move(slow), static_cast<size_t>(settings_.slowlog_max_len));
  }
  counts.slow.clear();
  for (const ReadCounts::Spike& spike : counts.spikes) {
    RecordLatency(*spike.command, spike.took, spike.at);
  }
  counts.spikes.clear();
}

void Metrics::RecordRounds(uint64_t rounds, Micros took) {
  stats_.rounds += rounds;
  stats_.round_time += took;
}

void Metrics::Reset() {
  Gather();
  stats_ = Stats();
  load_.Reset();
  slots_.Reset();
  std::ranges::fill(commands_, CommandStats());
}

}  // namespace zsetd
