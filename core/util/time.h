#pragma once

#include <chrono>

namespace zsetd {

// A duration, or an instant counted from the Unix epoch. The name states which: `now` and
// `deadline` are instants, `timeout` and `time_to_live` are durations.
using Millis = std::chrono::milliseconds;

using Micros = std::chrono::microseconds;

}  // namespace zsetd
