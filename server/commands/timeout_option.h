#pragma once

#include "core/time.h"
#include "server/engine/arg_reader.h"

namespace zsetd {

// Takes how long a command may wait: seconds, maybe with a fraction, rounded up to whole
// milliseconds; 0 is for ever. `now` is what the wait is counted from.
Millis TakeTimeout(ArgReader& args, Millis now);

}  // namespace zsetd
