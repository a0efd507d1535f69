#pragma once

#include <cstddef>
#include <string_view>

#include "core/sorted_set/timed_score_range.h"
#include "core/util/range.h"
#include "core/util/time.h"
#include "server/engine/call.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

inline constexpr std::string_view kBadScoreBound = "ERR min or max is not a float";
inline constexpr std::string_view kBadFormBound =
    "ERR min or max does not have the form of the key's scores";

// Takes the next two arguments as the ends of a range: of scores (1.5, (1.5, -inf, now, nowms) or
// of members (-, +, [abc, (abc). A bound of scores may also be a tuple, which only suits a set of
// that form (TimedScoreRange::Suits). The lower end comes first, or second if `reversed`. `now` is
// the Unix time in seconds, and `nowms` in milliseconds, in upper or lower case. Redis has neither.
TimedScoreRange TakeTimedScoreRange(ArgReader& args);
void TakeTimedScoreRange(ArgReader& args, bool reversed, TimedScoreRange& range);
LexRange TakeLexRange(ArgReader& args, bool reversed = false);

// Refuses a range that does not suit the form of the set's scores. A null set has no elements.
void CheckSuits(Call& call, const TimedScoreRange& range, const SortedSet* set);

// Propagates the request. If one of the two bounds from argv[first] on is `now` or `nowms`, both
// are propagated as numbers. Must be called after a change.
void PropagateBounds(Call& call, size_t first);

}  // namespace zsetd
