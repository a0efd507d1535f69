#include "server/engine/metrics/latency_monitor.h"

#include <algorithm>
#include <cassert>

namespace zsetd {

void LatencyMonitor::Record(std::string_view event, Millis took, Millis now) {
  LatencySeries& series = events_.try_emplace(std::string(event)).first->second;
  series.worst = std::max(series.worst, took);
  const int64_t second = now.count() / 1000;
  if (!series.samples.empty() && series.samples.back().second == second) {
    Millis& longest = series.samples.back().took;
    longest = std::max(longest, took);
    return;
  }
  series.samples.push_back({second, took});
  if (series.samples.size() > LatencySeries::kSamples) series.samples.pop_front();
  assert(series.samples.size() <= LatencySeries::kSamples);
}

}  // namespace zsetd
