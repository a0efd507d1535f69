#include <cstdint>
#include <string_view>

#include "server/commands/common/propagated_value.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/zset_bounds.h"
#include "server/commands/zset/zset_long_range.h"
#include "server/commands/zset/zset_range_request.h"
#include "server/commands/zset/zset_reply.h"
#include "server/commands/zset/zset_store.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using By = RangeRequest::By;

// `named` has the properties that the command's name implies.
void ReplyRange(Call& call, const RangeRequest& named) {
  const std::string_view key = call.args.Word();
  const RangeRequest request = TakeRangeRequest(call.args, call.now(), named);
  const SortedSet* set = call.Find<SortedSet>(key);
  request.CheckSuits(call, set);
  if (call.Refused()) return;
  if (request.pattern && set != nullptr) return ReplyMatches(call, key, *set, request);
  const RankRange ranks = set == nullptr ? RankRange() : request.RanksIn(*set);
  if (set != nullptr && IsLongRange(call, *set, ranks.size())) {
    if (!call.IsPutOff()) ReplyElementsAtLength(call, key, *set, ranks, request);
    return;
  }
  ReplyElements(call, set, ranks, request.IsReversed(), request.parts);
}

void ZRange(Call& call) { ReplyRange(call, {.may_match = true}); }
void ZRevRange(Call& call) { ReplyRange(call, {.by = By::kRank, .reversed = true}); }
void ZRangeByScore(Call& call) { ReplyRange(call, {.by = By::kScore, .reversed = false}); }
void ZRevRangeByScore(Call& call) { ReplyRange(call, {.by = By::kScore, .reversed = true}); }
void ZRangeByLex(Call& call) { ReplyRange(call, {.by = By::kLex, .reversed = false}); }
void ZRevRangeByLex(Call& call) { ReplyRange(call, {.by = By::kLex, .reversed = true}); }

// The destination may be the source, so the result is complete before it is stored.
void ZRangeStore(Call& call) {
  const std::string_view destination = call.args.Word();
  const std::string_view source = call.args.Word();
  const RangeRequest request = TakeRangeRequest(call.args, call.now(), {.may_have_parts = false});
  const SortedSet* set = call.Find<SortedSet>(source);
  request.CheckSuits(call, set);
  if (call.Refused()) return;
  const bool has_form = set != nullptr && set->has_form();
  const RankRange ranks = set == nullptr ? RankRange() : request.RanksIn(*set);
  const bool changed = StoreSet(call, destination, ranks.empty() ? SortedSet() : set->Copy(ranks),
                                KeyEvent::kZRangeStore);
  if (changed && has_form) return PropagateValue(call, destination);
  if (changed && request.by == By::kScore) PropagateBounds(call, 3);
}

void ZCount(Call& call) {
  const std::string_view key = call.args.Word();
  const TimedScoreRange range = TakeTimedScoreRange(call.args);
  const SortedSet* set = call.Find<SortedSet>(key);
  CheckSuits(call, range, set);
  if (call.Refused()) return;
  const RankRange ranks = set == nullptr ? RankRange() : range.RanksIn(*set, call.now());
  call.reply.Integer(static_cast<int64_t>(ranks.size()));
}

void ZLexCount(Call& call) {
  const std::string_view key = call.args.Word();
  const LexRange range = TakeLexRange(call.args);
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  call.reply.Integer(set == nullptr ? 0 : static_cast<int64_t>(set->Ranks(range).size()));
}

constexpr Command kZSetRangeCommands[] = {
    {.name = "zrange",
     .run = ZRange,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key start stop [BYSCORE|BYLEX] [REV] [LIMIT offset count] [WITHSCORES] "
              "[WITHDATA] [MATCH pattern]",
     .summary = "Returns members in a range of ranks, scores or in lexicographical order.",
     .cost = "O(log(N)+M) for M members returned, or compared with the pattern"},
    {.name = "zrangestore",
     .run = ZRangeStore,
     .arity = -5,
     .flags = kWrite | kDenyOom,
     .keys = kTwoKeys,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "dst src min max [BYSCORE|BYLEX] [REV] [LIMIT offset count]",
     .summary = "Stores members in a range of ranks, scores or in lexicographical order.",
     .cost = "O(log(N)+M) for M members stored",
     .key_use = "OW update,RO access"},
    {.name = "zrevrange",
     .run = ZRevRange,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key start stop [WITHSCORES] [WITHDATA]",
     .summary = "Returns members in a range of ranks, highest score first.",
     .cost = "O(log(N)+M) for M members returned"},
    {.name = "zrangebyscore",
     .run = ZRangeByScore,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "1.0.5",
     .usage = "key min max [WITHSCORES] [WITHDATA] [LIMIT offset count]",
     .summary = "Returns members in a range of scores.",
     .cost = "O(log(N)+M) for M members returned"},
    {.name = "zrevrangebyscore",
     .run = ZRevRangeByScore,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "2.2.0",
     .usage = "key max min [WITHSCORES] [WITHDATA] [LIMIT offset count]",
     .summary = "Returns members in a range of scores, highest first.",
     .cost = "O(log(N)+M) for M members returned"},
    {.name = "zrangebylex",
     .run = ZRangeByLex,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "2.8.9",
     .usage = "key min max [WITHDATA] [LIMIT offset count]",
     .summary = "Returns members in a lexicographical range, where all scores are equal.",
     .cost = "O(log(N)+M) for M members returned"},
    {.name = "zrevrangebylex",
     .run = ZRevRangeByLex,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "2.8.9",
     .usage = "key max min [WITHDATA] [LIMIT offset count]",
     .summary = "Returns members in a lexicographical range, in reverse order.",
     .cost = "O(log(N)+M) for M members returned"},
    {.name = "zcount",
     .run = ZCount,
     .arity = 4,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "key min max",
     .summary = "Counts members in a range of scores.",
     .cost = "O(log(N))"},
    {.name = "zlexcount",
     .run = ZLexCount,
     .arity = 4,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "2.8.9",
     .usage = "key min max",
     .summary = "Counts members in a lexicographical range.",
     .cost = "O(log(N))"},
};

}  // namespace

std::span<const Command> ZSetRangeCommands() { return kZSetRangeCommands; }

}  // namespace zsetd
