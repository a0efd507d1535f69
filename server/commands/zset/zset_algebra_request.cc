#include "server/commands/zset/zset_algebra_request.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace zsetd {
namespace {

Args TakeKeys(Call& call) {
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
  if (args.Take("count")) return aggregate = Aggregate::kCount, true;
  return false;
}

bool TakeOption(ArgReader& args, const AlgebraGrammar& grammar, AlgebraRequest& request) {
  if (grammar.with_scores && args.Take("withscores")) return request.with_scores = true;
  if (!grammar.weighted) return false;
  return TakeWeights(args, request.inputs) || TakeAggregate(args, request.aggregate);
}

WeightedSet FindInput(Call& call, std::string_view key) {
  const Entry* entry = call.args.ok() ? call.Find(key) : nullptr;
  if (entry == nullptr) return {};
  const WeightedSet input = {.set = entry->GetIf<SortedSet>(), .plain = entry->GetIf<Set>()};
  if (input.set == nullptr && input.plain == nullptr) call.args.Refuse(kWrongType);
  return input;
}

}  // namespace

std::vector<WeightedSet> TakeAlgebraInputs(Call& call) {
  std::vector<WeightedSet> inputs;
  for (const std::string_view key : TakeKeys(call)) inputs.push_back(FindInput(call, key));
  return inputs;
}

AlgebraRequest TakeAlgebraRequest(Call& call, const AlgebraGrammar& grammar) {
  AlgebraRequest request = {.inputs = TakeAlgebraInputs(call)};
  while (call.args.ok() && !call.args.AtEnd()) {
    if (!TakeOption(call.args, grammar, request)) call.args.Refuse(kSyntaxError);
  }
  return request;
}

}  // namespace zsetd
