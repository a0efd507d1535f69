#include "server/engine/metrics/metrics.h"

#include <algorithm>

namespace zsetd {

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
