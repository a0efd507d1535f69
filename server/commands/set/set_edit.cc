#include <cassert>
#include <cstdint>
#include <string_view>

#include "core/set/set.h"
#include "server/commands/set/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void SAdd(Call& call) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Rest();
  const Edit<Set> set = call.OpenOrMake<Set>(key, KeyEvent::kSAdd);
  if (call.Refused()) return;
  set.Announce(members.size(), members.front());
  int64_t added = 0;
  for (const std::string_view member : members) added += set.Add(member);
  call.reply.Integer(added);
}

void SRem(Call& call) {
  const std::string_view key = call.args.Word();
  const Edit<Set> set = call.Open<Set>(key, KeyEvent::kSRem);
  if (call.Refused()) return;
  int64_t removed = 0;
  for (const std::string_view member : call.args.Rest()) {
    if (set) removed += set.Remove(member);
  }
  call.reply.Integer(removed);
}

void Move(Call& call, std::string_view source, std::string_view destination,
          std::string_view member) {
  assert(source != destination);
  {
    const Edit<Set> from = call.Open<Set>(source, KeyEvent::kSRem);
    from.Remove(member);
  }
  const Edit<Set> to = call.OpenOrMake<Set>(destination, KeyEvent::kSAdd);
  to.Add(member);
}

// As in Redis, the destination is not checked if the source does not exist.
void SMove(Call& call) {
  const std::string_view source = call.args.Word();
  const std::string_view destination = call.args.Word();
  const std::string_view member = call.args.Word();
  const Set* set = call.Peek<Set>(source);
  if (set != nullptr) call.Peek<Set>(destination);
  if (call.Refused()) return;
  const bool moves = set != nullptr && set->Contains(member);
  if (moves && source != destination) Move(call, source, destination, member);
  call.reply.Integer(moves);
}

constexpr Command kSetEditCommands[] = {
    {.name = "sadd",
     .run = SAdd,
     .arity = -3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key member [member ...]",
     .summary = "Adds members.",
     .cost = "O(1) for each member",
     .key_use = "RW insert"},
    {.name = "srem",
     .run = SRem,
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key member [member ...]",
     .summary = "Removes members.",
     .cost = "O(1) for each member",
     .key_use = "RW delete"},
    {.name = "smove",
     .run = SMove,
     .arity = 4,
     .flags = kWrite | kFast,
     .keys = kTwoKeys,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "source destination member",
     .summary = "Moves a member from one set to another.",
     .cost = "O(1)",
     .key_use = "RW access delete,RW insert"},
};

}  // namespace

std::span<const Command> SetEditCommands() { return kSetEditCommands; }

}  // namespace zsetd
