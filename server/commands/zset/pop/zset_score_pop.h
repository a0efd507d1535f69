#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "core/sorted_set/timed_score_range.h"
#include "core/util/range.h"
#include "server/engine/call.h"

namespace zsetd {

// The arguments of ZPOPBYSCORE and BZPOPBYSCORE after the key:
//
//   min max [REV] [COUNT count] [WITHDATA]
struct ScorePopRequest {
  TimedScoreRange scores;
  bool reversed = false;          // REV: the highest first
  bool with_payloads = false;     // WITHDATA
  std::optional<uint64_t> count;  // COUNT; without it, one element in a reply of a different form

  // The ranks of the elements to pop. O(log n).
  RankRange RanksIn(const SortedSet& set, Millis now) const;

  // The event of the change: that of ZPOPMIN or ZPOPMAX, as for ZMPOP.
  KeyEvent event() const { return reversed ? KeyEvent::kZPopMax : KeyEvent::kZPopMin; }
};

// Takes REV, WITHDATA, or COUNT with its number. Returns false if the next argument is another
// word.
bool TakeScorePopOption(ArgReader& args, ScorePopRequest& request);

// Takes the remaining arguments. The reader keeps an error.
ScorePopRequest TakeScorePopRequest(ArgReader& args);

// Replies the elements to pop, of which there is at least one: ZPOPBYSCORE and similar commands.
void ReplyPopped(Call& call, const SortedSet& set, RankRange ranks, const ScorePopRequest& request);

// The same after the key: the blocking commands.
void ReplyKeyAndPopped(Call& call, std::string_view key, const SortedSet& set, RankRange ranks,
                       const ScorePopRequest& request);

// Removes the elements and propagates the removal by ranks, because the score range may depend on
// the time.
void PopRanks(Call& call, std::string_view key, Edit<SortedSet>& set, RankRange ranks);

}  // namespace zsetd
