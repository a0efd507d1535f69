#pragma once

#include <cstddef>

#include "core/sorted_set/timed_score_range.h"
#include "core/util/range.h"
#include "core/util/time.h"
#include "server/engine/call.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// The next two arguments as the ends of a range of scores (1.5, (1.5, -inf, now, nowms) or of
// members (-, +, [abc, (abc). The lower end comes first, or second where `reversed`. `now` is the
// Unix time in seconds and `nowms` in milliseconds, in any case of letters; Redis has neither.
TimedScoreRange TakeTimedScoreRange(ArgReader& args, bool reversed = false);
ScoreRange TakeScoreRange(ArgReader& args, Millis now, bool reversed = false);
LexRange TakeLexRange(ArgReader& args, bool reversed = false);

// Propagates the request with the two bounds that begin at argv[first] as numbers, if one of them
// is the present: to be called when it has changed something.
void PropagateBounds(Call& call, size_t first);

}  // namespace zsetd
