#pragma once

#include "core/util/time.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// Takes how long a command may wait: seconds, maybe with a fraction, rounded up to whole
// milliseconds; 0 is for ever. `now` is what the wait is counted from.
Millis TakeTimeout(ArgReader& args, Millis now);

// The same in whole milliseconds; what 0 means is for the command to say.
Millis TakeTimeoutMillis(ArgReader& args, Millis now);

}  // namespace zsetd
