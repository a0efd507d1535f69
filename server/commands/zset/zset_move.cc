#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/zset_add.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

struct Moved {
  std::string_view member;
  double score;
  std::optional<Millis> deadline;
};

// Removes the members from the set. Returns those that existed, each once, with their scores and
// deadlines.
std::vector<Moved> TakeOut(const Edit<SortedSet>& set, Args members) {
  std::vector<Moved> taken;
  for (const std::string_view member : members) {
    const std::optional<double> score = set->Score(member);
    if (!score) continue;
    taken.push_back({member, *score, set->Deadline(member)});
    set.Remove(member);
  }
  return taken;
}

void PutIn(Edit<SortedSet>& set, const std::vector<Moved>& moved) {
  for (const auto& [member, score, deadline] : moved) {
    set.Add(member, score, AddRule());
    if (deadline) set->SetDeadline(member, deadline);
  }
}

void PropagateMove(Call& call, std::string_view source, std::string_view destination,
                   const std::vector<Moved>& moved) {
  if (!call.Propagates()) return;
  std::vector<std::string_view> removal = {"ZREM", source};
  std::vector<std::string_view> addition = {"ZADD", destination};
  std::vector<std::string> scores;
  scores.reserve(moved.size());
  std::map<Millis, std::vector<std::string_view>> deadlines;
  for (const auto& [member, score, deadline] : moved) {
    removal.push_back(member);
    addition.push_back(scores.emplace_back(DoubleText(score)));
    addition.push_back(member);
    if (deadline) deadlines[*deadline].push_back(member);
  }
  call.Propagate(removal);
  call.Propagate(addition);
  for (const auto& [deadline, members] : deadlines) {
    PropagateElementDeadline(call, destination, members, deadline, kMemberWords);
  }
}

// The two keys differ, and each holds a sorted set or does not exist.
size_t Move(Call& call, std::string_view source, std::string_view destination, Args members) {
  Edit<SortedSet> from = call.Open<SortedSet>(source, KeyEvent::kZRem);
  if (!from) return 0;  // its last members have just expired
  const std::vector<Moved> moved = TakeOut(from, members);
  from = Edit<SortedSet>();  // an emptied source is deleted before the destination changes
  if (moved.empty()) return 0;
  {
    Edit<SortedSet> to = call.OpenOrMake<SortedSet>(destination, KeyEvent::kZAdd);
    PutIn(to, moved);
  }
  PropagateMove(call, source, destination, moved);
  return moved.size();
}

size_t CountIn(const SortedSet& set, Args members) {
  size_t count = 0;
  for (const std::string_view member : members) count += set.Score(member).has_value();
  return count;
}

// Like SMOVE, it does not check the destination if the source does not exist, and changes nothing
// if both are the same key.
void ZMove(Call& call) {
  const std::string_view source = call.args.Word();
  const std::string_view destination = call.args.Word();
  const Args members = call.args.Rest();
  const SortedSet* const set = call.Find<SortedSet>(source);
  if (set != nullptr) call.Find<SortedSet>(destination);
  if (call.Refused()) return;
  size_t count = 0;
  if (set != nullptr) {
    count =
        source == destination ? CountIn(*set, members) : Move(call, source, destination, members);
  }
  call.reply.Integer(static_cast<int64_t>(count));
}

constexpr Command kCommands[] = {
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

std::span<const Command> ZSetMoveCommands() { return kCommands; }

}  // namespace zsetd
