#pragma once

#include "core/util/time.h"

namespace zsetd {

// The wall clock, as time since the Unix epoch.
Millis UnixNow();
Micros UnixNowExactly();

// A monotonic clock, for measuring durations.
Micros MonotonicNow();

}  // namespace zsetd
