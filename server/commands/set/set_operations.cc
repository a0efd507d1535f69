#include "core/set/set_operations.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/keyspace/value.h"
#include "server/commands/set/families.h"
#include "server/commands/set/set_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using Operation = Set (*)(Sets, const SetLimits&);

std::vector<const Set*> FindSets(Call& call, Args keys) {
  std::vector<const Set*> sets;
  for (const std::string_view key : keys) sets.push_back(call.Find<Set>(key));
  return sets;
}

void Reply(Call& call, Operation operation) {
  const std::vector<const Set*> sets = FindSets(call, call.args.Rest());
  if (call.Refused()) return;
  const Set result = operation(sets, SetLimits());
  ReplyMembers(call, &result);
}

// The destination may be one of the inputs, so the result is complete before it is stored.
void Store(Call& call, KeyEvent event, Operation operation) {
  const std::string_view destination = call.args.Word();
  const std::vector<const Set*> sets = FindSets(call, call.args.Rest());
  if (call.Refused()) return;
  Set result = call.keys.Combine(operation, sets);
  call.reply.Integer(static_cast<int64_t>(result.size()));
  if (result.empty()) {
    call.keys.Erase(destination);
  } else {
    call.keys.Put(destination, std::move(result), event);
  }
}

void SInter(Call& call) { Reply(call, Intersection); }
void SUnion(Call& call) { Reply(call, Union); }
void SDiff(Call& call) { Reply(call, Difference); }
void SInterStore(Call& call) { Store(call, KeyEvent::kSInterStore, Intersection); }
void SUnionStore(Call& call) { Store(call, KeyEvent::kSUnionStore, Union); }
void SDiffStore(Call& call) { Store(call, KeyEvent::kSDiffStore, Difference); }

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Args TakeKeys(ArgReader& args) {
  const size_t count = args.IntegerIn(1, kMost, "ERR numkeys should be greater than 0");
  if (count > args.left()) args.Refuse("ERR Number of keys can't be greater than number of args");
  return args.Next(count);
}

// LIMIT 0 means no limit.
void SInterCard(Call& call) {
  const Args keys = TakeKeys(call.args);
  int64_t limit = 0;
  while (call.args.left() >= 2 && call.args.Take("limit")) {
    limit = call.args.IntegerIn(0, kMost, "ERR LIMIT can't be negative");
  }
  call.args.End();
  const std::vector<const Set*> sets = FindSets(call, keys);
  if (call.Refused()) return;
  const size_t count = IntersectionSize(sets, limit == 0 ? kMost : limit);
  call.reply.Integer(static_cast<int64_t>(count));
}

constexpr Command kSetOperationCommands[] = {
    {.name = "sinter",
     .run = SInter,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kAllKeys,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key [key ...]",
     .summary = "Returns the intersection of sets.",
     .cost = "O(N*K) for N members in the smallest of K sets",
     .tips = "nondeterministic_output_order"},
    {.name = "sinterstore",
     .run = SInterStore,
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = kAllKeys,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "destination key [key ...]",
     .summary = "Stores the intersection of sets.",
     .cost = "O(N*K) for N members in the smallest of K sets",
     .key_use = "OW update,RO access"},
    {.name = "sintercard",
     .run = SInterCard,
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = {.count_at = 1},
     .group = CommandGroup::kSet,
     .since = "7.0.0",
     .usage = "numkeys key [key ...] [LIMIT limit]",
     .summary = "Returns the size of the intersection of sets.",
     .cost = "O(N*K) for N members in the smallest of K sets"},
    {.name = "sunion",
     .run = SUnion,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kAllKeys,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key [key ...]",
     .summary = "Returns the union of sets.",
     .cost = "O(N) for N members in all sets",
     .tips = "nondeterministic_output_order"},
    {.name = "sunionstore",
     .run = SUnionStore,
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = kAllKeys,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "destination key [key ...]",
     .summary = "Stores the union of sets.",
     .cost = "O(N) for N members in all sets",
     .key_use = "OW update,RO access"},
    {.name = "sdiff",
     .run = SDiff,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kAllKeys,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key [key ...]",
     .summary = "Returns the difference of the first set and the others.",
     .cost = "O(N*K) for N members in the first of K sets",
     .tips = "nondeterministic_output_order"},
    {.name = "sdiffstore",
     .run = SDiffStore,
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = kAllKeys,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "destination key [key ...]",
     .summary = "Stores the difference of the first set and the others.",
     .cost = "O(N*K) for N members in the first of K sets",
     .key_use = "OW update,RO access"},
};

}  // namespace

std::span<const Command> SetOperationCommands() { return kSetOperationCommands; }

}  // namespace zsetd
