#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "core/sorted_set/sorted_set.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/pop/zset_moved.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// Removes the members from the set. Returns those that existed, each once, with their scores,
// deadlines and payloads.
MovedElements TakeOut(const Edit<SortedSet>& set, Args members) {
  MovedElements taken;
  for (const std::string_view member : members) {
    const std::optional<double> score = set->Score(member);
    if (!score) continue;
    MovedElement& element = taken.emplace_back();
    element = {std::string(member), *score, set->Deadline(member)};
    element.payload = set->Payload(member);
    set.Remove(member);
  }
  return taken;
}

// The two keys differ, and each holds a sorted set or does not exist.
size_t Move(Call& call, std::string_view source, std::string_view destination, Args members) {
  Edit<SortedSet> from = call.Open<SortedSet>(source, KeyEvent::kZRem);
  if (!from) return 0;  // its last members have just expired
  const ScoreForm form = from->form();
  MovedElements moved = TakeOut(from, members);
  from = Edit<SortedSet>();  // an emptied source is deleted before the destination changes
  if (moved.empty()) return 0;
  {
    Edit<SortedSet> to = call.OpenOrMake<SortedSet>(destination, KeyEvent::kZAdd);
    AddMoved(to, form, moved, /*stays=*/false);
  }
  PropagateMoved(call, source, destination, moved);
  return moved.size();
}

// The number of different members that exist.
size_t CountIn(const SortedSet& set, Args members) {
  absl::flat_hash_set<std::string_view> existing;
  for (const std::string_view member : members) {
    if (set.Contains(member)) existing.insert(member);
  }
  return existing.size();
}

// Like SMOVE, it does not check the destination if the source does not exist, and changes nothing
// if both are the same key.
void ZMove(Call& call) {
  const std::string_view source = call.args.Word();
  const std::string_view destination = call.args.Word();
  const Args members = call.args.Rest();
  const SortedSet* const set = call.Peek<SortedSet>(source);
  if (set != nullptr) CheckSameForm(call, set, call.Peek<SortedSet>(destination));
  if (call.Refused()) return;
  size_t count = 0;
  if (set != nullptr) {
    count =
        source == destination ? CountIn(*set, members) : Move(call, source, destination, members);
  }
  call.reply.Integer(static_cast<int64_t>(count));
}

constexpr Command kZSetMoveCommands[] = {
    {.name = "zmove",
     .run = ZMove,
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kTwoKeys,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "source destination member [member ...]",
     .summary = "Moves members with their scores from one sorted set to another.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW access delete,RW insert"},
};

}  // namespace

std::span<const Command> ZSetMoveCommands() { return kZSetMoveCommands; }

}  // namespace zsetd
