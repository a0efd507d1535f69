#pragma once

#include <string>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/engine.h"

namespace zsetd {

// The reply of LATENCY GRAPH: a column of marks for each sample, which is higher for a longer
// latency. Below it, the age of the sample is written downward.
std::string LatencyGraph(std::string_view event, const LatencySeries& series, Millis now);

// The reply of LATENCY DOCTOR: the slow events, their frequency, and advice.
std::string LatencyAdvice(const Engine& engine);

}  // namespace zsetd
