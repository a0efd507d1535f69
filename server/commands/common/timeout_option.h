#pragma once

#include "core/util/time.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// Takes the timeout of a blocking command: seconds, possibly with a fraction, rounded up to whole
// milliseconds; 0 blocks indefinitely. The timeout counts from `now`.
Millis TakeTimeout(ArgReader& args, Millis now);

// Like the function above, in whole milliseconds; the command defines the meaning of 0.
Millis TakeTimeoutMillis(ArgReader& args, Millis now);

}  // namespace zsetd
