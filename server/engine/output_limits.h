#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/settings.h"

namespace zsetd {

// "normal 0 0 0 pubsub 33554432 8388608 60": for each class the hard and the soft limit in bytes,
// and for how many seconds the soft one may be passed.
std::string OutputLimitsText(const OutputLimits& limits);

// Reads the same, for one class or more; the limits of a class not named stay. Nothing changes on a
// refusal.
absl::Status ReadOutputLimits(std::string_view text, OutputLimits& limits);

}  // namespace zsetd
