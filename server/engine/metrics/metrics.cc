#include "server/engine/metrics/metrics.h"

#include <algorithm>

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
  slow_log_->Record(command, argv, caller, now, took,
                    static_cast<size_t>(settings_.slowlog_max_len));
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
