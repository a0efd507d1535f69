#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "core/sorted_set/sorted_set.h"
#include "core/sorted_set/timed_score_range.h"
#include "core/util/range.h"
#include "core/util/time.h"
#include "server/commands/common/index_range.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/call.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// The arguments of every command that reads a range of a sorted set.
struct RangeRequest {
  enum class By { kRank, kScore, kLex };

  // LIMIT. A negative count means no limit; a negative offset selects nothing.
  struct Limit {
    int64_t offset = 0;
    int64_t count = -1;
  };

  // A command's name implies both of these or neither. ZRANGE has options for them.
  std::optional<By> by;
  std::optional<bool> reversed;

  bool may_have_parts = true;  // WITHSCORES and WITHDATA are options
  bool may_match = false;      // MATCH is an option
  ElementParts parts;
  std::optional<Limit> limit;
  std::optional<std::string_view> pattern;  // MATCH; LIMIT then counts the matches
  std::variant<IndexRange, TimedScoreRange, LexRange> range;
  Millis now{0};  // of timed bounds

  bool IsReversed() const { return reversed.value_or(false); }

  // Refuses a range of scores that does not suit the form of the set's scores.
  void CheckSuits(Call& call, const SortedSet* set) const;

  // The ranks of the requested elements, which are read from the end if reversed. If there is a
  // pattern, the ranks of the elements to compare with it. O(log n).
  RankRange RanksIn(const SortedSet& set) const;
};

// Takes `start stop` and the options after it. `implied` has the properties that the command's name
// implies. `now` is the time for the bounds `now` and `nowms`.
RangeRequest TakeRangeRequest(ArgReader& args, Millis now, const RangeRequest& implied);

}  // namespace zsetd
