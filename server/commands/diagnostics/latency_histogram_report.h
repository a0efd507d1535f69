#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// LATENCY HISTOGRAM: the number of calls of each command by their duration. Each bar's time is
// twice that of the previous one.
void ReplyLatencyHistograms(AdminCall& call);

}  // namespace zsetd
