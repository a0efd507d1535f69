#pragma once

#include <string_view>

#include "core/util/time.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// Takes the timeout of a blocking command and adds it to `now`. The argument is in seconds,
// possibly with a fraction, and is rounded up to whole milliseconds; 0 blocks indefinitely.
Millis TakeTimeout(ArgReader& args, Millis now);

// Like `TakeTimeout()`, but reads `text`, an argument that was taken earlier. An error that `args`
// has already stays.
Millis ReadTimeout(ArgReader& args, std::string_view text, Millis now);

// Like `TakeTimeout()`, but in whole milliseconds. The command defines the meaning of 0.
Millis TakeTimeoutMillis(ArgReader& args, Millis now);

}  // namespace zsetd
