#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "protocol/text/number_text.h"
#include "server/commands/all_commands.h"
#include "server/commands/zset/zset_add.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// Those of the members that the set has, each once, with their scores.
std::vector<Element> TakeOut(SortedSet& set, Args members) {
  std::vector<Element> taken;
  for (const std::string_view member : members) {
    const std::optional<double> score = set.Score(member);
    if (!score) continue;
    taken.push_back({member, *score});
    set.Remove(member);
  }
  return taken;
}

void PropagateMove(Call& call, std::string_view source, std::string_view destination,
                   const std::vector<Element>& moved) {
  if (!call.Propagates()) return;
  std::vector<std::string_view> removal = {"ZREM", source};
  std::vector<std::string_view> addition = {"ZADD", destination};
  std::vector<std::string> scores;
  scores.reserve(moved.size());
  for (const Element& element : moved) {
    removal.push_back(element.member);
    addition.push_back(scores.emplace_back(DoubleText(element.score)));
    addition.push_back(element.member);
  }
  call.Propagate(removal);
  call.Propagate(addition);
}

// The two keys differ, and each holds a sorted set or nothing.
size_t Move(Call& call, std::string_view source, std::string_view destination, Args members) {
  Edit<SortedSet> from = call.Open<SortedSet>(source, "zrem");
  const std::vector<Element> moved = TakeOut(*from, members);
  from = Edit<SortedSet>();  // an emptied source is gone before the destination changes
  if (moved.empty()) return 0;
  Edit<SortedSet> to = call.OpenOrMake<SortedSet>(destination, "zadd");
  for (const Element& element : moved) {
    AddOne(*to, element, AddRule(), call.keys.sorted_set_limits());
  }
  PropagateMove(call, source, destination, moved);
  return moved.size();
}

size_t CountIn(const SortedSet& set, Args members) {
  size_t count = 0;
  for (const std::string_view member : members) count += set.Score(member).has_value();
  return count;
}

// As SMOVE, it does not look at the destination if there is no source; and if they are the same it
// changes nothing.
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
