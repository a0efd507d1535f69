#include "server/engine/latency_monitor.h"

#include <algorithm>

namespace zsetd {

void LatencyMonitor::Note(std::string_view event, Micros took, Millis now) {
  const Millis millis = std::chrono::duration_cast<Millis>(took);
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
