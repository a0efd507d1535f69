#pragma once

#include "core/util/range.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// The next two arguments as the ends of a range of scores (1.5, (1.5, -inf) or of members
// (-, +, [abc, (abc). The lower end comes first, or second where `reversed`.
ScoreRange TakeScoreRange(ArgReader& args, bool reversed = false);
LexRange TakeLexRange(ArgReader& args, bool reversed = false);

}  // namespace zsetd
