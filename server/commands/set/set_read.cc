#include <cstdint>
#include <string_view>

#include "server/commands/set/families.h"
#include "server/commands/set/set_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void SCard(Call& call) {
  const Set* set = call.Find<Set>(call.args.Word());
  if (call.Refused()) return;
  call.reply.Integer(set == nullptr ? 0 : static_cast<int64_t>(set->size()));
}

void SIsMember(Call& call) {
  const Set* set = call.Find<Set>(call.args.Word());
  if (call.Refused()) return;
  call.reply.Integer(set != nullptr && set->Contains(call.args.Word()));
}

void SMIsMember(Call& call) {
  const Set* set = call.Find<Set>(call.args.Word());
  const Args members = call.args.Rest();
  if (call.Refused()) return;
  call.reply.Array(members.size());
  for (const std::string_view member : members) {
    call.reply.Integer(set != nullptr && set->Contains(member));
  }
}

void SMembers(Call& call) {
  const Set* set = call.Find<Set>(call.args.Word());
  if (call.Refused()) return;
  ReplyMembers(call, set);
}

constexpr Command kSetReadCommands[] = {
    {.name = "scard",
     .run = SCard,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key",
     .summary = "Returns the number of members.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "sismember",
     .run = SIsMember,
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key member",
     .summary = "Checks whether a member exists.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "smismember",
     .run = SMIsMember,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSet,
     .since = "6.2.0",
     .usage = "key member [member ...]",
     .summary = "Checks which of several members exist.",
     .cost = "O(1) for each member"},
    {.name = "smembers",
     .run = SMembers,
     .arity = 2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key",
     .summary = "Returns all members.",
     .cost = "O(N) for N members",
     .tips = "nondeterministic_output_order"},
};

}  // namespace

std::span<const Command> SetReadCommands() { return kSetReadCommands; }

}  // namespace zsetd
