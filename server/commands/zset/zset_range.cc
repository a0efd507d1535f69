#include <cstdint>
#include <string_view>

#include "server/commands/all_commands.h"
#include "server/commands/zset/zset_bounds.h"
#include "server/commands/zset/zset_range_request.h"
#include "server/commands/zset/zset_reply.h"
#include "server/commands/zset/zset_store.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using By = RangeRequest::By;

// `named` is what the command's name says of the request.
void ReplyRange(Call& call, const RangeRequest& named) {
  const std::string_view key = call.args.Word();
  const RangeRequest request = TakeRangeRequest(call.args, named);
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  const RankRange ranks = set == nullptr ? RankRange() : request.RanksIn(*set);
  ReplyElements(call, set, ranks, request.IsReversed(), request.with_scores);
}

void ZRange(Call& call) { ReplyRange(call, {}); }
void ZRevRange(Call& call) { ReplyRange(call, {.by = By::kRank, .reversed = true}); }
void ZRangeByScore(Call& call) { ReplyRange(call, {.by = By::kScore, .reversed = false}); }
void ZRevRangeByScore(Call& call) { ReplyRange(call, {.by = By::kScore, .reversed = true}); }
void ZRangeByLex(Call& call) { ReplyRange(call, {.by = By::kLex, .reversed = false}); }
void ZRevRangeByLex(Call& call) { ReplyRange(call, {.by = By::kLex, .reversed = true}); }

// The destination may be the source: the result is whole before it is put there.
void ZRangeStore(Call& call) {
  const std::string_view destination = call.args.Word();
  const std::string_view source = call.args.Word();
  const RangeRequest request = TakeRangeRequest(call.args, {.may_have_scores = false});
  const SortedSet* set = call.Find<SortedSet>(source);
  if (call.Refused()) return;
  const RankRange ranks = set == nullptr ? RankRange() : request.RanksIn(*set);
  StoreSet(call, destination, ranks.empty() ? SortedSet() : set->Copy(ranks), call.command.name);
}

template <class Range>
void CountIn(Call& call, std::string_view key, const Range& range) {
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  call.reply.Integer(set == nullptr ? 0 : static_cast<int64_t>(set->Ranks(range).size()));
}

void ZCount(Call& call) {
  const std::string_view key = call.args.Word();
  CountIn(call, key, TakeScoreRange(call.args));
}

void ZLexCount(Call& call) {
  const std::string_view key = call.args.Word();
  CountIn(call, key, TakeLexRange(call.args));
}

constexpr Command kCommands[] = {
    {.name = "zrange",
     .run = ZRange,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key start stop [BYSCORE|BYLEX] [REV] [LIMIT offset count] [WITHSCORES]",
     .summary = "Tells the members within a range of ranks, of scores or of bytes.",
     .cost = "O(log(N)+M) for M members told"},
    {.name = "zrangestore",
     .run = ZRangeStore,
     .arity = -5,
     .flags = kWrite | kDenyOom,
     .keys = kTwoKeys,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "dst src min max [BYSCORE|BYLEX] [REV] [LIMIT offset count]",
     .summary = "Stores the members within a range of ranks, of scores or of bytes.",
     .cost = "O(log(N)+M) for M members stored",
     .key_use = "OW update,RO access"},
    {.name = "zrevrange",
     .run = ZRevRange,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key start stop [WITHSCORES]",
     .summary = "Tells the members within a range of ranks, the highest first.",
     .cost = "O(log(N)+M) for M members told"},
    {.name = "zrangebyscore",
     .run = ZRangeByScore,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "1.0.5",
     .usage = "key min max [WITHSCORES] [LIMIT offset count]",
     .summary = "Tells the members within a range of scores.",
     .cost = "O(log(N)+M) for M members told"},
    {.name = "zrevrangebyscore",
     .run = ZRevRangeByScore,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "2.2.0",
     .usage = "key max min [WITHSCORES] [LIMIT offset count]",
     .summary = "Tells the members within a range of scores, the highest first.",
     .cost = "O(log(N)+M) for M members told"},
    {.name = "zrangebylex",
     .run = ZRangeByLex,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "2.8.9",
     .usage = "key min max [LIMIT offset count]",
     .summary = "Tells the members within a range of bytes, where all scores are equal.",
     .cost = "O(log(N)+M) for M members told"},
    {.name = "zrevrangebylex",
     .run = ZRevRangeByLex,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "2.8.9",
     .usage = "key max min [LIMIT offset count]",
     .summary = "Tells the members within a range of bytes, the highest first.",
     .cost = "O(log(N)+M) for M members told"},
    {.name = "zcount",
     .run = ZCount,
     .arity = 4,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "key min max",
     .summary = "Counts the members within a range of scores.",
     .cost = "O(log(N))"},
    {.name = "zlexcount",
     .run = ZLexCount,
     .arity = 4,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "2.8.9",
     .usage = "key min max",
     .summary = "Counts the members within a range of bytes, where all scores are equal.",
     .cost = "O(log(N))"},
};

}  // namespace

std::span<const Command> ZSetRangeCommands() { return kCommands; }

}  // namespace zsetd
