// ZREM and the removal of ranges.
#include <cstdint>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/common/index_range.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/zset_bounds.h"
#include "server/commands/zset/zset_cut.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void ZRem(Call& call) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Rest();
  Edit<SortedSet> set = call.Open<SortedSet>(key, KeyEvent::kZRem);
  if (call.Refused()) return;
  int64_t removed = 0;
  for (const std::string_view member : members) {
    if (set) removed += set.Remove(member);
  }
  call.reply.Integer(removed);
}

// `ranks_in` returns the ranks to remove from the set, by `scores` unless that is null. Returns
// whether anything was removed.
template <class RanksIn>
bool RemoveRange(Call& call, std::string_view key, KeyEvent event, RanksIn ranks_in,
                 const TimedScoreRange* scores = nullptr) {
  Edit<SortedSet> set = call.Open<SortedSet>(key, event);
  if (scores != nullptr) CheckSuits(call, *scores, set ? &*set : nullptr);
  if (call.Refused()) return false;
  const size_t before = set ? set->size() : 0;
  if (set) {
    const RankRange ranks = ranks_in(*set);
    RemovedMembers members(call, *set, ranks);
    CutRanks(set, ranks);
    members.Propagate(key);
  }
  const size_t removed = before - (set ? set->size() : 0);
  call.reply.Integer(static_cast<int64_t>(removed));
  return removed > 0;
}

void ZRemRangeByRank(Call& call) {
  const std::string_view key = call.args.Word();
  const IndexRange range = TakeIndexRange(call.args);
  RemoveRange(call, key, KeyEvent::kZRemRangeByRank,
              [&](const SortedSet& set) { return range.Within(set.size()); });
}

void ZRemRangeByScore(Call& call) {
  const std::string_view key = call.args.Word();
  const TimedScoreRange range = TakeTimedScoreRange(call.args);
  const auto ranks_in = [&](const SortedSet& set) { return range.RanksIn(set, call.now()); };
  const bool removed = RemoveRange(call, key, KeyEvent::kZRemRangeByScore, ranks_in, &range);
  if (removed && !call.is_propagated()) PropagateBounds(call, 2);
}

void ZRemRangeByLex(Call& call) {
  const std::string_view key = call.args.Word();
  const LexRange range = TakeLexRange(call.args);
  RemoveRange(call, key, KeyEvent::kZRemRangeByLex,
              [&](const SortedSet& set) { return set.Ranks(range); });
}

constexpr Command kZSetRemoveCommands[] = {
    {.name = "zrem",
     .run = ZRem,
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key member [member ...]",
     .summary = "Removes members.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW delete"},
    {.name = "zremrangebyrank",
     .run = ZRemRangeByRank,
     .arity = 4,
     .flags = kWrite,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "key start stop",
     .summary = "Removes members in a range of ranks.",
     .cost = "O(log(N)+M) for M members removed",
     .key_use = "RW delete"},
    {.name = "zremrangebyscore",
     .run = ZRemRangeByScore,
     .arity = 4,
     .flags = kWrite,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key min max",
     .summary = "Removes members in a range of scores.",
     .cost = "O(log(N)+M) for M members removed",
     .key_use = "RW delete"},
    {.name = "zremrangebylex",
     .run = ZRemRangeByLex,
     .arity = 4,
     .flags = kWrite,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "2.8.9",
     .usage = "key min max",
     .summary = "Removes members in a lexicographical range.",
     .cost = "O(log(N)+M) for M members removed",
     .key_use = "RW delete"},
};

}  // namespace

std::span<const Command> ZSetRemoveCommands() { return kZSetRemoveCommands; }

}  // namespace zsetd
