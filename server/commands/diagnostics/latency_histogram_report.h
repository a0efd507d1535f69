#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// LATENCY HISTOGRAM: how many calls of commands took how long, in bars of times that double.
void ReplyLatencyHistograms(AdminCall& call);

}  // namespace zsetd
