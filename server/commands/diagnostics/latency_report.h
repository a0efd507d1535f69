#pragma once

#include <string>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/engine.h"

namespace zsetd {

// The LATENCY GRAPH: a column of marks for each sample, higher where it took longer, and below it,
// to be read downward, how long ago that was.
std::string LatencyGraph(std::string_view event, const LatencySeries& series, Millis now);

// The LATENCY DOCTOR report: what took long, how often, and advice.
std::string LatencyAdvice(const Engine& engine);

}  // namespace zsetd
