#pragma once

#include "core/util/time.h"

namespace zsetd {

// The wall clock, as time since the Unix epoch.
Millis UnixNow();
Micros UnixNowExactly();

// A clock that only goes forward, for measuring.
Micros MonotonicNow();

}  // namespace zsetd
