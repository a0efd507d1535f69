#include <cstdint>
#include <optional>
#include <string_view>

#include "server/commands/all_commands.h"
#include "server/commands/common/encoding.h"
#include "server/commands/common/expiry_option.h"
#include "server/commands/common/index_range.h"
#include "server/commands/zset/zset_add.h"
#include "server/commands/zset/zset_add_request.h"
#include "server/commands/zset/zset_bounds.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using Kind = AddResult::Kind;

// Adds one member and replies its new score, or null where the rule forbade it. To a new member
// nothing is added, so its increment is replied as it is: -0 stays -0, as in Redis.
void Increment(Call& call, Edit<SortedSet>& set, const Element& pair, const AddRule& rule) {
  if (!set) return call.reply.Null();
  const SortedSetLimits limits = SortedSetLimitsOf(call.engine.settings());
  const AddResult result = AddOne(*set, pair, rule, limits);
  if (result.kind == Kind::kNotANumber) {
    return call.Fail("ERR resulting score is not a number (NaN)");
  }
  if (result.kind == Kind::kRefused) return call.reply.Null();
  call.reply.Double(result.kind == Kind::kAdded ? pair.score : result.score);
}

void ZAdd(Call& call) {
  const std::string_view key = call.args.Word();
  const AddRequest request = TakeAddRequest(call);
  Edit<SortedSet> set = OpenToAdd(call, key, request.rule);
  if (call.Refused()) return;
  if (request.rule.increment) {
    Increment(call, set, request.pairs[0], request.rule);
  } else {
    AddAll(call, set, request);
  }
  if (request.deadline && !call.refused()) set.ExpireAt(*request.deadline);
}

// ZINCRBY key increment member [EX seconds | PX ms | EXAT seconds | PXAT ms | KEEPTTL]
void ZIncrBy(Call& call) {
  const std::string_view key = call.args.Word();
  const double increment = call.args.Float();
  const std::string_view member = call.args.Word();
  const std::optional<ExpiryOption> expiry = TakeExpiryOption(call.args);
  const bool has_option = expiry || call.args.Take("keepttl");
  if (!has_option && !call.args.AtEnd()) call.args.Refuse(WrongArity("zincrby"));
  call.args.End();
  const Millis deadline = expiry && call.args.ok() ? DeadlineOf(call, *expiry) : Millis();
  const AddRule rule = {.increment = true};
  Edit<SortedSet> set = OpenToAdd(call, key, rule);
  if (call.Refused()) return;
  Increment(call, set, {member, increment}, rule);
  if (expiry && !call.refused()) set.ExpireAt(deadline);
}

void ZRem(Call& call) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Rest();
  Edit<SortedSet> set = call.Open<SortedSet>(key, "zrem");
  if (call.Refused()) return;
  int64_t removed = 0;
  for (const std::string_view member : members) removed += set && set->Remove(member);
  call.reply.Integer(removed);
}

// `ranks_in` returns the ranks to remove from the set.
template <class RanksIn>
void RemoveRange(Call& call, std::string_view key, std::string_view event, RanksIn ranks_in) {
  Edit<SortedSet> set = call.Open<SortedSet>(key, event);
  if (call.Refused()) return;
  if (!set) return call.reply.Integer(0);
  const size_t before = set->size();
  set.FreeLater(set->Cut(ranks_in(*set)));
  call.reply.Integer(static_cast<int64_t>(before - set->size()));
}

void ZRemRangeByRank(Call& call) {
  const std::string_view key = call.args.Word();
  const IndexRange range = TakeIndexRange(call.args);
  RemoveRange(call, key, "zremrangebyrank",
              [&](const SortedSet& set) { return range.Within(set.size()); });
}

void ZRemRangeByScore(Call& call) {
  const std::string_view key = call.args.Word();
  const ScoreRange range = TakeScoreRange(call.args);
  RemoveRange(call, key, "zremrangebyscore",
              [&](const SortedSet& set) { return set.Ranks(range); });
}

void ZRemRangeByLex(Call& call) {
  const std::string_view key = call.args.Word();
  const LexRange range = TakeLexRange(call.args);
  RemoveRange(call, key, "zremrangebylex", [&](const SortedSet& set) { return set.Ranks(range); });
}

constexpr Command kCommands[] = {
    {.name = "zadd",
     .run = ZAdd,
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .member_at = 3,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key [NX|XX] [GT|LT] [CH] [INCR] [EX seconds|PX milliseconds|EXAT "
              "unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL] score member [score member "
              "...]",
     .summary = "Adds members or updates their scores; can set the key's expiration too.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
    {.name = "zincrby",
     .run = ZIncrBy,
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .member_at = 3,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key increment member [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT "
              "unix-time-milliseconds|KEEPTTL]",
     .summary = "Increments the score of a member; can set the key's expiration too.",
     .cost = "O(log(N))"},
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

std::span<const Command> ZSetEditCommands() { return kCommands; }

}  // namespace zsetd
