#include <optional>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/all_commands.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void ReplyScore(Call& call, std::optional<double> score) {
  if (score) {
    call.reply.Double(*score);
  } else {
    call.reply.Null();
  }
}

void ZCard(Call& call) {
  const SortedSet* set = call.Find<SortedSet>(call.args.Word());
  if (call.Refused()) return;
  call.reply.Integer(set == nullptr ? 0 : static_cast<int64_t>(set->size()));
}

void ZScore(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view member = call.args.Word();
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  ReplyScore(call, set == nullptr ? std::nullopt : set->Score(member));
}

void ZMScore(Call& call) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Rest();
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  call.reply.Array(members.size());
  for (const std::string_view member : members) {
    ReplyScore(call, set == nullptr ? std::nullopt : set->Score(member));
  }
}

// The rank from the low end (ZRANK) or the high end (ZREVRANK); null for an unknown member.
void Rank(Call& call, bool reversed) {
  const std::string_view key = call.args.Word();
  const std::string_view member = call.args.Word();
  if (call.args.left() > 1) return call.Fail(WrongArity(call.command.name));
  const bool with_score = call.args.Take("withscore");
  call.args.End();
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  const std::optional<size_t> rank = set == nullptr ? std::nullopt : set->Rank(member);
  if (!rank) return with_score ? call.reply.NullArray() : call.reply.Null();
  if (with_score) call.reply.Array(2);
  call.reply.Integer(static_cast<int64_t>(reversed ? set->size() - 1 - *rank : *rank));
  if (with_score) ReplyScore(call, set->Score(member));
}

void ZRank(Call& call) { Rank(call, /*reversed=*/false); }
void ZRevRank(Call& call) { Rank(call, /*reversed=*/true); }

constexpr Command kCommands[] = {
    {.name = "zcard",
     .run = ZCard,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key",
     .summary = "Returns the number of members.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "zscore",
     .run = ZScore,
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = "key member",
     .summary = "Returns the score of a member.",
     .cost = "O(1)"},
    {.name = "zmscore",
     .run = ZMScore,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "key member [member ...]",
     .summary = "Returns the scores of several members.",
     .cost = "O(N) for N members requested"},
    {.name = "zrank",
     .run = ZRank,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "key member [WITHSCORE]",
     .summary = "Returns the rank of a member, lowest score first.",
     .cost = "O(log(N))"},
    {.name = "zrevrank",
     .run = ZRevRank,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "key member [WITHSCORE]",
     .summary = "Returns the rank of a member, highest score first.",
     .cost = "O(log(N))"},
};

}  // namespace

std::span<const Command> ZSetReadCommands() { return kCommands; }

}  // namespace zsetd
