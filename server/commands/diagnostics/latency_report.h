#pragma once

#include <string>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/engine.h"

namespace zsetd {

// What LATENCY GRAPH draws: a column of marks for each sample, higher where it took longer, and
// below it, to be read downward, how long ago that was.
std::string LatencyGraph(std::string_view event, const LatencySeries& series, Millis now);

// What LATENCY DOCTOR says: what took long, how often, and what can be done about it.
std::string LatencyAdvice(const Engine& engine);

}  // namespace zsetd
