#pragma once

#include <cstddef>

#include "core/sorted_set/timed_score_range.h"
#include "core/util/range.h"
#include "core/util/time.h"
#include "server/engine/call.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// Takes the next two arguments as the ends of a range: of scores (1.5, (1.5, -inf, now, nowms) or
// of members (-, +, [abc, (abc). The lower end comes first, or second if `reversed`. `now` is the
// Unix time in seconds, and `nowms` in milliseconds, in upper or lower case. Redis has neither.
TimedScoreRange TakeTimedScoreRange(ArgReader& args, bool reversed = false);
ScoreRange TakeScoreRange(ArgReader& args, Millis now, bool reversed = false);
LexRange TakeLexRange(ArgReader& args, bool reversed = false);

// Propagates the request. If one of the two bounds from argv[first] on is `now` or `nowms`, both
// are propagated as numbers. Must be called after a change.
void PropagateBounds(Call& call, size_t first);

}  // namespace zsetd
