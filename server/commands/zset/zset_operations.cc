#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sorted_set/operations/formed_operations.h"
#include "core/sorted_set/operations/set_operations.h"
#include "server/commands/common/propagated_value.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/zset_bounds.h"
#include "server/commands/zset/zset_range_request.h"
#include "server/commands/zset/zset_reply.h"
#include "server/commands/zset/zset_store.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr std::string_view kDifferentForms = "ERR the scores of the keys have different forms";
constexpr std::string_view kBadFormedSum =
    "ERR the sum of scores overflows, or is not defined for their form; use AGGREGATE MIN or MAX";

// The arguments of ZUNION, ZINTER, ZDIFF and the commands that store a result. The sets are valid
// until the next change.
struct AlgebraRequest {
  std::vector<WeightedSet> inputs;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
  bool is_reversed = false;                  // REV
  std::optional<TimedScoreRange> scores;     // BYSCORE min max
  std::optional<RangeRequest::Limit> limit;  // LIMIT offset count

  // Whether only some elements of the result are requested.
  bool IsSelective() const { return scores || limit; }
  Selection selection(Millis now) const;

  // Whether the scores have a form: those of any input.
  bool HasForm() const {
    return std::ranges::any_of(inputs, [](const WeightedSet& input) {
      return input.set != nullptr && input.set->has_form();
    });
  }
};

// The options that a command has after its keys.
struct AlgebraGrammar {
  bool weighted = false;  // WEIGHTS and AGGREGATE
  bool replies = false;   // WITHSCORES, REV, BYSCORE and LIMIT
};

// A negative count means no limit; a negative offset selects nothing.
Selection AlgebraRequest::selection(Millis now) const {
  Selection selected = {.reversed = is_reversed};
  if (scores) selected.scores = scores->At(now);
  if (!limit) return selected;
  if (limit->offset < 0) {
    selected.count = 0;
    return selected;
  }
  selected.offset = static_cast<size_t>(limit->offset);
  if (limit->count >= 0) selected.count = static_cast<size_t>(limit->count);
  return selected;
}

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
  if (args.Take("sum")) {
    aggregate = Aggregate::kSum;
  } else if (args.Take("min")) {
    aggregate = Aggregate::kMin;
  } else if (args.Take("max")) {
    aggregate = Aggregate::kMax;
  } else if (args.Take("count")) {
    aggregate = Aggregate::kCount;
  } else {
    return false;
  }
  return true;
}

// Takes an option that affects the reply. BYSCORE has the lower bound first, even with REV.
bool TakeReplyOption(Call& call, AlgebraRequest& request) {
  ArgReader& args = call.args;
  if (args.Take("withscores")) {
    request.with_scores = true;
  } else if (!request.is_reversed && args.Take("rev")) {
    request.is_reversed = true;
  } else if (!request.scores && args.left() >= 3 && args.Take("byscore")) {
    request.scores = TakeTimedScoreRange(args);
  } else if (!request.limit && args.left() >= 3 && args.Take("limit")) {
    const int64_t offset = args.Integer();
    request.limit = {.offset = offset, .count = args.Integer()};
  } else {
    return false;
  }
  return true;
}

bool TakeAlgebraOption(Call& call, const AlgebraGrammar& grammar, AlgebraRequest& request) {
  if (grammar.replies && TakeReplyOption(call, request)) return true;
  if (!grammar.weighted) return false;
  return TakeWeights(call.args, request.inputs) || TakeAggregate(call.args, request.aggregate);
}

WeightedSet FindInput(Call& call, std::string_view key) {
  const Entry* entry = call.args.ok() ? call.keys.Find(key) : nullptr;
  if (entry == nullptr) return {};
  const WeightedSet input = {.set = entry->GetIf<SortedSet>(), .plain = entry->GetIf<Set>()};
  if (input.set == nullptr && input.plain == nullptr) call.args.Refuse(kWrongType);
  return input;
}

// Takes "numkeys key [key ...]". A missing key is an empty set. A key that is neither a set nor a
// sorted set is an error.
std::vector<WeightedSet> TakeAlgebraInputs(Call& call) {
  std::vector<WeightedSet> inputs;
  for (const std::string_view key : TakeKeys(call)) inputs.push_back(FindInput(call, key));
  return inputs;
}

// Refuses inputs of different forms, and weights of scores with a form.
void CheckForms(Call& call, const AlgebraRequest& request) {
  const SortedSet* first = nullptr;
  for (const WeightedSet& input : request.inputs) {
    if (input.plain != nullptr) call.args.Refuse(kDifferentForms);
    if (input.weight != 1) call.args.Refuse("ERR WEIGHTS are only supported for scores of doubles");
    if (input.set == nullptr) continue;
    if (first == nullptr) first = input.set;
    if (!first->HasFormOf(*input.set)) call.args.Refuse(kDifferentForms);
  }
}

// Takes the inputs and the options up to the end. The reader keeps an error.
AlgebraRequest TakeAlgebraRequest(Call& call, const AlgebraGrammar& grammar) {
  AlgebraRequest request = {.inputs = TakeAlgebraInputs(call)};
  while (call.args.ok() && !call.args.AtEnd()) {
    if (!TakeAlgebraOption(call, grammar, request)) call.args.Refuse(kSyntaxError);
  }
  if (request.HasForm()) CheckForms(call, request);
  return request;
}

// An operation in two forms: one returns the whole result, the other passes its elements to a
// selector. Sets with a form have an operation of their own.
struct Operation {
  SetOperation formed;
  SortedSet (*whole)(const AlgebraRequest&);
  void (*select)(const AlgebraRequest&, ElementSelector&);
};

constexpr Operation kUnion = {
    SetOperation::kUnion,
    [](const AlgebraRequest& request) { return Union(request.inputs, request.aggregate); },
    [](const AlgebraRequest& request, ElementSelector& selector) {
      SelectUnion(request.inputs, request.aggregate, selector);
    }};
constexpr Operation kIntersection = {
    SetOperation::kIntersection,
    [](const AlgebraRequest& request) { return Intersection(request.inputs, request.aggregate); },
    [](const AlgebraRequest& request, ElementSelector& selector) {
      SelectIntersection(request.inputs, request.aggregate, selector);
    }};
constexpr Operation kDifference = {
    SetOperation::kDifference,
    [](const AlgebraRequest& request) { return Difference(request.inputs); },
    [](const AlgebraRequest& request, ElementSelector& selector) {
      SelectDifference(request.inputs, selector);
    }};

// Replies some elements of the result without building the whole result.
void ReplySelected(Call& call, const AlgebraRequest& request, const Operation& operation) {
  ElementSelector selector(request.selection(call.now()));
  operation.select(request, selector);
  const std::vector<ElementSelector::Selected> elements = selector.Take();
  StartElements(call.reply, elements.size(), {.score = request.with_scores});
  for (const ElementSelector::Selected& element : elements) {
    ReplyElement(call.reply, Element{element.member, element.score}, std::nullopt,
                 {.score = request.with_scores});
  }
}

// Returns the whole result of sets with a form; nullopt if it replied an error.
std::optional<SortedSet> FormedResult(Call& call, const AlgebraRequest& request,
                                      const Operation& operation) {
  auto result = CombineFormed(operation.formed, request.inputs, request.aggregate);
  if (!result) call.Fail(kBadFormedSum);
  return result;
}

void ReplyFormed(Call& call, const AlgebraRequest& request, const Operation& operation) {
  const std::optional<SortedSet> result = FormedResult(call, request, operation);
  if (!result) return;
  RangeRequest range = {.reversed = request.is_reversed, .limit = request.limit};
  range.range = IndexRange{0, -1};
  range.now = call.now();
  if (request.scores) {
    if (!request.scores->Suits(*result, call.now())) return call.Fail(kBadFormBound);
    range.range = *request.scores;
  }
  ReplyElements(call, &*result, range.RanksIn(*result), request.is_reversed,
                {.score = request.with_scores});
}

void Reply(Call& call, AlgebraGrammar grammar, const Operation& operation) {
  grammar.replies = true;
  const AlgebraRequest request = TakeAlgebraRequest(call, grammar);
  if (call.Refused()) return;
  if (request.HasForm()) [[unlikely]]
    return ReplyFormed(call, request, operation);
  if (request.scores && (request.scores->min.is_tuple || request.scores->max.is_tuple)) {
    return call.Fail(kBadScoreBound);
  }
  if (request.IsSelective()) return ReplySelected(call, request, operation);
  const SortedSet result = operation.whole(request);
  ReplyElements(call, &result, {0, result.size()}, request.is_reversed,
                {.score = request.with_scores});
}

// The destination may be one of the inputs, so the result is complete before it is stored.
void Store(Call& call, const AlgebraGrammar& grammar, KeyEvent event, const Operation& operation) {
  const std::string_view destination = call.args.Word();
  const AlgebraRequest request = TakeAlgebraRequest(call, grammar);
  if (call.Refused()) return;
  if (request.HasForm()) [[unlikely]] {
    std::optional<SortedSet> result = FormedResult(call, request, operation);
    if (result) StoreSet(call, destination, *std::move(result), event);
    if (result) PropagateValue(call, destination);
    return;
  }
  StoreSet(call, destination, operation.whole(request), event);
  const bool is_new_to_redis = request.aggregate == Aggregate::kCount;
  if (is_new_to_redis) PropagateValue(call, destination);
}

constexpr AlgebraGrammar kWeighted = {.weighted = true};

void ZUnion(Call& call) { Reply(call, kWeighted, kUnion); }
void ZInter(Call& call) { Reply(call, kWeighted, kIntersection); }
void ZDiff(Call& call) { Reply(call, {}, kDifference); }
void ZUnionStore(Call& call) { Store(call, kWeighted, KeyEvent::kZUnionStore, kUnion); }
void ZInterStore(Call& call) { Store(call, kWeighted, KeyEvent::kZInterStore, kIntersection); }
void ZDiffStore(Call& call) { Store(call, {}, KeyEvent::kZDiffStore, kDifference); }

// LIMIT 0 means no limit.
void ZInterCard(Call& call) {
  constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
  const std::vector<WeightedSet> inputs = TakeAlgebraInputs(call);
  int64_t limit = 0;
  while (call.args.left() >= 2 && call.args.Take("limit")) {
    limit =
        call.args.IntegerIn(0, std::numeric_limits<int64_t>::max(), "ERR LIMIT can't be negative");
  }
  call.args.End();
  if (call.Refused()) return;
  const size_t count = IntersectionSize(inputs, limit == 0 ? kNoLimit : limit);
  call.reply.Integer(static_cast<int64_t>(count));
}

constexpr KeyPlaces kCountedKeys = {.count_at = 1};
constexpr KeyPlaces kDestinationAndCountedKeys = {.first = 1, .last = 1, .step = 1, .count_at = 2};

constexpr Command kZSetOperationCommands[] = {
    {.name = "zunion",
     .run = ZUnion,
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM|MIN|MAX|COUNT>] "
              "[BYSCORE min max] [REV] [LIMIT offset count] [WITHSCORES]",
     .summary = "Returns the union of sorted sets, or its first elements.",
     .cost =
         "O(N)+O(M*log(M)) for N members in all sets and M in the result, or up to the last that "
         "LIMIT wants"},
    {.name = "zinter",
     .run = ZInter,
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM|MIN|MAX|COUNT>] "
              "[BYSCORE min max] [REV] [LIMIT offset count] [WITHSCORES]",
     .summary = "Returns the intersection of sorted sets, or its first elements.",
     .cost =
         "O(N*K)+O(M*log(M)) for N members in the smallest of K sets and M in the result, or up to "
         "the last that LIMIT wants"},
    {.name = "zunionstore",
     .run = ZUnionStore,
     .arity = -4,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kDestinationAndCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE "
              "<SUM|MIN|MAX|COUNT>]",
     .summary = "Stores the union of sorted sets.",
     .cost = "O(N)+O(M*log(M)) for N members in all sets and M in the result",
     .key_use = "OW update,RO access"},
    {.name = "zinterstore",
     .run = ZInterStore,
     .arity = -4,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kDestinationAndCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE "
              "<SUM|MIN|MAX|COUNT>]",
     .summary = "Stores the intersection of sorted sets.",
     .cost = "O(N*K)+O(M*log(M)) for N members in the smallest of K sets and M in the result",
     .key_use = "OW update,RO access"},
    {.name = "zdiff",
     .run = ZDiff,
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "numkeys key [key ...] [BYSCORE min max] [REV] [LIMIT offset count] [WITHSCORES]",
     .summary =
         "Returns the difference of the first sorted set and the others, or the first elements "
         "of it.",
     .cost = "O(N*K)+O(M*log(M)) for N members in the first of K sets and M in the result, or up "
             "to the "
             "last that LIMIT wants"},
    {.name = "zdiffstore",
     .run = ZDiffStore,
     .arity = -4,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kDestinationAndCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "destination numkeys key [key ...]",
     .summary = "Stores the difference of the first sorted set and the others.",
     .cost = "O(N*K)+O(M*log(M)) for N members in the first of K sets and M in the result",
     .key_use = "OW update,RO access"},
    {.name = "zintercard",
     .run = ZInterCard,
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kCountedKeys,
     .group = CommandGroup::kSortedSet,
     .since = "7.0.0",
     .usage = "numkeys key [key ...] [LIMIT limit]",
     .summary = "Returns the size of the intersection of sorted sets.",
     .cost = "O(N*K) for N members in the smallest of K sets"},
};

}  // namespace

std::span<const Command> ZSetOperationCommands() { return kZSetOperationCommands; }

}  // namespace zsetd
