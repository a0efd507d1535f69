#include "server/engine/metrics/metrics.h"

#include <algorithm>

#include "server/engine/client/client.h"

namespace zsetd {

void Metrics::CountCall(const Client& client, const Command& command, Args argv, Micros took,
                        Millis now) {
  CommandStats& stats = StatsOf(command);
  ++stats.calls;
  stats.micros += took.count();
  if (settings_.latency_tracking) stats.latency.Record(took);
  slow_log_.MaybeRecord(settings_, command, argv, client, now, took);
  ++stats_.commands_processed;
}

void Metrics::RecordRound(Micros took) {
  ++stats_.rounds;
  stats_.round_time += took;
}

void Metrics::Reset() {
  stats_ = Stats();
  load_.Reset();
  std::ranges::fill(commands_, CommandStats());
}

}  // namespace zsetd
