#pragma once

#include "server/engine/call.h"

namespace zsetd {

// LATENCY HISTOGRAM: how many calls of commands took how long, in bars of times that double.
void ReplyLatencyHistograms(Call& call);

}  // namespace zsetd
