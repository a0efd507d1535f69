#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "server/commands/zset/families.h"
#include "server/commands/zset/pop/zset_score_pop.h"
#include "server/commands/zset/zset_cut.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// The number of elements to pop, and whether the request has a count. Without one, the reply in
// RESP3 is a flat pair.
struct PopCount {
  uint64_t count = 1;
  bool given = false;
};

PopCount TakePopCount(ArgReader& args) {
  if (args.AtEnd()) return {};
  if (args.left() > 1) args.Refuse(kSyntaxError);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const int64_t count = args.IntegerIn(0, kMost, kMustBePositive);
  return {.count = static_cast<uint64_t>(count), .given = true};
}

void Pop(Call& call, bool highest) {
  const std::string_view key = call.args.Word();
  const PopCount wanted = TakePopCount(call.args);
  Edit<SortedSet> set =
      call.Open<SortedSet>(key, highest ? KeyEvent::kZPopMax : KeyEvent::kZPopMin);
  if (call.Refused()) return;
  const size_t size = set ? set->size() : 0;
  const size_t count = std::min<uint64_t>(size, wanted.count);
  if (count == 0) return call.reply.Array(0);
  const RankRange ranks = highest ? RankRange{size - count, size} : RankRange{0, count};
  if (wanted.given) {
    ReplyElements(call, &*set, ranks, highest, /*with_scores=*/true);
  } else {
    ReplyPair(call.reply, set->At(ranks.first).element());
  }
  CutRanks(set, ranks);
}

// ZPOPBYSCORE key min max [REV] [COUNT count]
void ZPopByScore(Call& call) {
  const std::string_view key = call.args.Word();
  const ScorePopRequest request = TakeScorePopRequest(call.args);
  Edit<SortedSet> set = call.Open<SortedSet>(key, request.event());
  if (call.Refused()) return;
  const RankRange ranks = set ? request.RanksIn(*set, call.now()) : RankRange();
  if (ranks.empty()) return call.reply.Array(0);
  ReplyPopped(call, *set, ranks, request);
  PopRanks(call, key, set, ranks);
}

void ZPopMin(Call& call) { Pop(call, /*highest=*/false); }
void ZPopMax(Call& call) { Pop(call, /*highest=*/true); }

constexpr Command kZSetPopCommands[] = {
    {.name = "zpopmin",
     .run = ZPopMin,
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "5.0.0",
     .usage = "key [count]",
     .summary = "Removes and returns the lowest-scoring members.",
     .cost = "O(log(N)+M) for M members removed",
     .key_use = "RW access delete"},
    {.name = "zpopmax",
     .run = ZPopMax,
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "5.0.0",
     .usage = "key [count]",
     .summary = "Removes and returns the highest-scoring members.",
     .cost = "O(log(N)+M) for M members removed",
     .key_use = "RW access delete"},
    {.name = "zpopbyscore",
     .run = ZPopByScore,
     .arity = -4,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key min max [REV] [COUNT count]",
     .summary = "Removes and returns the lowest- or highest-scoring members in a range of scores.",
     .cost = "O(log(N)+M) for M members removed",
     .key_use = "RW access delete"},
};

}  // namespace

std::span<const Command> ZSetPopCommands() { return kZSetPopCommands; }

}  // namespace zsetd
