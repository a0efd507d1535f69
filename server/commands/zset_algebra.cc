#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/set_algebra.h"
#include "server/commands/families.h"
#include "server/commands/zset_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using Operation = SortedSet (*)(std::span<const WeightedSet>, Aggregate);

struct AlgebraRequest {
  std::vector<WeightedSet> inputs;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
};

Words TakeKeys(Call& call) {
  const int64_t count = call.args.Integer();
  if (count < 1) {
    call.args.Refuse("ERR at least 1 input key is needed for '" + std::string(call.command.name) +
                     "' command");
  }
  return call.args.Next(count);
}

bool TakeWeights(ArgReader& args, std::vector<WeightedSet>& inputs) {
  if (args.left() <= inputs.size() || !args.Take("weights")) return false;
  for (WeightedSet& input : inputs) input.weight = args.Float("ERR weight value is not a float");
  return true;
}

bool TakeAggregate(ArgReader& args, Aggregate& aggregate) {
  if (args.left() < 2 || !args.Take("aggregate")) return false;
  if (args.Take("sum")) return aggregate = Aggregate::kSum, true;
  if (args.Take("min")) return aggregate = Aggregate::kMin, true;
  if (args.Take("max")) return aggregate = Aggregate::kMax, true;
  return false;
}

AlgebraRequest TakeRequest(Call& call, bool to_be_stored) {
  AlgebraRequest request;
  for (const std::string_view key : TakeKeys(call)) {
    request.inputs.push_back({.set = call.Find<SortedSet>(key)});
  }
  ArgReader& args = call.args;
  while (args.ok() && !args.AtEnd()) {
    if (TakeWeights(args, request.inputs) || TakeAggregate(args, request.aggregate)) continue;
    if (!to_be_stored && args.Take("withscores")) {
      request.with_scores = true;
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  return request;
}

void Reply(Call& call, Operation operation) {
  const AlgebraRequest request = TakeRequest(call, /*to_be_stored=*/false);
  if (call.Refused()) return;
  const SortedSet result = operation(request.inputs, request.aggregate);
  ReplyElements(call, &result, {0, result.size()}, /*reversed=*/false, request.with_scores);
}

// The destination may be one of the inputs: the result is whole before it is put there.
void Store(Call& call, Operation operation) {
  const std::string_view destination = call.args.Word();
  const AlgebraRequest request = TakeRequest(call, /*to_be_stored=*/true);
  if (call.Refused()) return;
  SortedSet result = operation(request.inputs, request.aggregate);
  call.reply.Integer(static_cast<int64_t>(result.size()));
  if (result.empty()) {
    call.database().Erase(destination);
  } else {
    call.database().Put(destination, std::move(result), call.command.name);
  }
}

void ZUnion(Call& call) { Reply(call, Union); }
void ZInter(Call& call) { Reply(call, Intersection); }
void ZUnionStore(Call& call) { Store(call, Union); }
void ZInterStore(Call& call) { Store(call, Intersection); }

constexpr KeyPlaces kCountedKeys = {.count_at = 1};
constexpr KeyPlaces kDestinationAndCountedKeys = {.first = 1, .last = 1, .step = 1, .count_at = 2};

constexpr Command kCommands[] = {
    {.name = "zunion",
     .run = ZUnion,
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM|MIN|MAX] "
              "[WITHSCORES]",
     .summary = "Tells the members that are in any of the sorted sets.",
     .cost = "O(N)+O(M*log(M)) for N members in all sets and M in the result"},
    {.name = "zinter",
     .run = ZInter,
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM|MIN|MAX] "
              "[WITHSCORES]",
     .summary = "Tells the members that are in all of the sorted sets.",
     .cost = "O(N*K)+O(M*log(M)) for N members in the smallest of K sets and M in the result"},
    {.name = "zunionstore",
     .run = ZUnionStore,
     .arity = -4,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kDestinationAndCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE "
              "SUM|MIN|MAX]",
     .summary = "Stores the members that are in any of the sorted sets.",
     .cost = "O(N)+O(M*log(M)) for N members in all sets and M in the result"},
    {.name = "zinterstore",
     .run = ZInterStore,
     .arity = -4,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kDestinationAndCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE "
              "SUM|MIN|MAX]",
     .summary = "Stores the members that are in all of the sorted sets.",
     .cost = "O(N*K)+O(M*log(M)) for N members in the smallest of K sets and M in the result"},
};

}  // namespace

std::span<const Command> ZSetAlgebraCommands() { return kCommands; }

}  // namespace zsetd
