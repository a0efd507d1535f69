#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "protocol/text/number_text.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/pop/zset_score_pop.h"
#include "server/commands/zset/zset_bounds.h"
#include "server/commands/zset/zset_cut.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// The number of elements to pop, and whether the request has a count. Without one, the reply in
// RESP3 is a flat tuple.
struct PopRequest {
  uint64_t count = 1;
  bool is_counted = false;
  bool with_payloads = false;  // WITHDATA
};

// [count] [WITHDATA]. As in Redis, the number of arguments is checked before the count.
PopRequest TakePopRequest(ArgReader& args) {
  PopRequest request;
  if (args.AtEnd()) return request;
  if (args.left() == 1 && args.Take("withdata")) return {.with_payloads = true};
  ArgReader count(args.Next(1), 0);
  request.with_payloads = args.Take("withdata");
  args.End();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  request.count = static_cast<uint64_t>(count.IntegerIn(0, kMost, kMustBePositive));
  request.is_counted = true;
  args.Refuse(count.status());
  return request;
}

void Pop(Call& call, bool highest) {
  const std::string_view key = call.args.Word();
  const PopRequest request = TakePopRequest(call.args);
  Edit<SortedSet> set =
      call.Open<SortedSet>(key, highest ? KeyEvent::kZPopMax : KeyEvent::kZPopMin);
  if (call.Refused()) return;
  const size_t size = set ? set->size() : 0;
  const size_t count = std::min<uint64_t>(size, request.count);
  if (count == 0) return call.reply.Array(0);
  const RankRange ranks = highest ? RankRange{size - count, size} : RankRange{0, count};
  if (request.is_counted) {
    ReplyElements(call, &*set, ranks, highest, {.score = true, .payload = request.with_payloads});
  } else {
    ReplyTuple(call, *set, ranks.first, request.with_payloads);
  }
  RemovedMembers members(call, *set, ranks);
  CutRanks(set, ranks);
  if (members.Propagate(key)) return;
  if (request.with_payloads) {  // an option that other servers do not know
    call.Propagate(
        {highest ? "ZPOPMAX" : "ZPOPMIN", key, IntegerText(static_cast<int64_t>(count))});
  }
}

// ZPOPBYSCORE key min max [REV] [COUNT count] [WITHDATA]
void ZPopByScore(Call& call) {
  const std::string_view key = call.args.Word();
  const ScorePopRequest request = TakeScorePopRequest(call.args);
  Edit<SortedSet> set = call.Open<SortedSet>(key, request.event());
  CheckSuits(call, request.scores, set ? &*set : nullptr);
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
     .usage = "key [count] [WITHDATA]",
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
     .usage = "key [count] [WITHDATA]",
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
     .usage = "key min max [REV] [COUNT count] [WITHDATA]",
     .summary = "Removes and returns the lowest- or highest-scoring members in a range of scores.",
     .cost = "O(log(N)+M) for M members removed",
     .key_use = "RW access delete"},
};

}  // namespace

std::span<const Command> ZSetPopCommands() { return kZSetPopCommands; }

}  // namespace zsetd
