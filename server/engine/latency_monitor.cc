#include "server/engine/latency_monitor.h"

#include <algorithm>

namespace zsetd {

void LatencyMonitor::Consider(std::string_view event, Micros took, Millis now,
                              int64_t threshold_ms) {
  const Millis millis = std::chrono::duration_cast<Millis>(took);
  if (threshold_ms == 0 || millis.count() < threshold_ms) return;
  LatencySeries& series = events_.try_emplace(std::string(event)).first->second;
  series.worst = std::max(series.worst, millis);
  const int64_t second = now.count() / 1000;
  if (!series.samples.empty() && series.samples.back().second == second) {
    Millis& longest = series.samples.back().took;
    longest = std::max(longest, millis);
    return;
  }
  series.samples.push_back({second, millis});
  if (series.samples.size() > LatencySeries::kSamples) series.samples.pop_front();
}

}  // namespace zsetd
