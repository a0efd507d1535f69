#include <optional>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

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
  ReplyScore(call, set, set == nullptr ? std::nullopt : set->Score(member));
}

void ZMScore(Call& call) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Rest();
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  call.reply.Array(members.size());
  for (const std::string_view member : members) {
    ReplyScore(call, set, set == nullptr ? std::nullopt : set->Score(member));
  }
}

void ZForm(Call& call) {
  const SortedSet* const set = call.Find<SortedSet>(call.args.Word());
  if (call.Refused()) return;
  if (set == nullptr) return call.reply.Null();
  call.reply.Bulk(set->form().Text());
}

constexpr Command kZSetReadCommands[] = {
    {.name = "zcard",
     .run = ZCard,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
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
     .concurrent = true,
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
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "key member [member ...]",
     .summary = "Returns the scores of several members.",
     .cost = "O(N) for N members requested"},
    {.name = "zform",
     .run = ZForm,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key",
     .summary = "Returns the form of the scores: DOUBLE, INT64, TUPLE with its fields, or "
                "HALFLIFE with seconds.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> ZSetReadCommands() { return kZSetReadCommands; }

}  // namespace zsetd
