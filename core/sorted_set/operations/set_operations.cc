#include "core/sorted_set/operations/set_operations.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/sorted_set/sorted_set_builder.h"
#include "core/sorted_set/union_table.h"

namespace zsetd {
namespace {

// A distinct input with all its weights. So a set that a request lists a thousand times is iterated
// once, and its members are looked up once.
struct Input {
  WeightedSet set;
  ScoreFold fold;
};

const void* IdentityOf(const WeightedSet& input) {
  return input.set != nullptr ? static_cast<const void*>(input.set) : input.plain;
}

// Each non-empty input once, in the given order.
std::vector<Input> Distinct(std::span<const WeightedSet> inputs, const ScoreFold& empty_fold) {
  std::vector<Input> distinct;
  std::unordered_map<const void*, size_t> places;
  for (const WeightedSet& input : inputs) {
    if (input.size() == 0) continue;
    const auto [place, is_new] = places.try_emplace(IdentityOf(input), distinct.size());
    if (is_new) distinct.push_back({.set = input, .fold = empty_fold});
    distinct[place->second].fold.AddWeight(input.weight);
  }
  return distinct;
}

// The distinct inputs, the smallest first, which is the order of Redis. The order affects the last
// digits of floating-point sums, and the sums of infinities of both signs.
std::vector<Input> BySize(std::span<const WeightedSet> inputs, const ScoreFold& empty_fold) {
  std::vector<Input> sorted = Distinct(inputs, empty_fold);
  std::ranges::stable_sort(sorted, {}, [](const Input& input) { return input.set.size(); });
  return sorted;
}

bool AnyIsEmpty(std::span<const WeightedSet> inputs) {
  return std::ranges::any_of(inputs, [](const WeightedSet& input) { return input.size() == 0; });
}

// The score of the element of `first` in the intersection with `others`; nullopt if one of them
// lacks it.
std::optional<double> Intersected(const Element& element, const Input& first,
                                  std::span<const Input> others) {
  double score = first.fold.First(element.score);
  for (const Input& other : others) {
    const std::optional<double> found = other.set.Score(element.member);
    if (!found) return std::nullopt;
    score = other.fold.Next(score, *found);
  }
  return score;
}

constexpr double kPlainScore = 1;

// Calls visit(const Element&) for each element until it returns false.
template <class Visit>
void WalkWhile(const WeightedSet& input, Visit visit) {
  bool more = true;
  if (input.set != nullptr) {
    for (auto at = input.set->At(0); more && at.valid(); at.Next()) more = visit(at.element());
  }
  if (input.plain == nullptr) return;
  uint64_t cursor = 0;
  do {
    cursor = input.plain->Scan(cursor, [&](std::string_view member) {
      more = more && visit(Element{.member = member, .score = kPlainScore});
    });
  } while (more && cursor != 0);
}

template <class Visit>
void Walk(const WeightedSet& input, Visit visit) {
  WalkWhile(input, [&](const Element& element) { return visit(element), true; });
}

void AddAll(const Input& input, UnionTable& table) {
  table.BeginInput(input.fold);
  const SortedSet* set = input.set.set;
  if (set == nullptr) {
    return Walk(input.set,
                [&](const Element& element) { table.Add(element.member, element.score); });
  }
  for (auto at = set->At(0); at.valid(); at.Next()) {
    table.Add(at.member_size(), at.score(), [&at](char* to) { at.WriteMember(to); });
  }
}

bool InAll(std::string_view member, std::span<const Input> inputs) {
  return std::ranges::all_of(
      inputs, [&](const Input& input) { return input.set.Score(member).has_value(); });
}

bool InAny(std::string_view member, std::span<const Input> inputs) {
  return std::ranges::any_of(
      inputs, [&](const Input& input) { return input.set.Score(member).has_value(); });
}

// Returns use(table) for a table of the union.
template <class Use>
auto WithUnion(std::span<const WeightedSet> inputs, Aggregate aggregate, Use use) {
  const std::vector<Input> sets = BySize(inputs, ScoreFold(aggregate));
  UnionTable table(sets.empty() ? 0 : sets.back().set.size());
  for (const Input& input : sets) AddAll(input, table);
  return use(table);
}

// Calls result.Add(member, score) for each element of the intersection.
template <class Result>
void Intersect(std::span<const WeightedSet> inputs, Aggregate aggregate, Result& result) {
  if (inputs.empty() || AnyIsEmpty(inputs)) return;
  const ScoreFold empty_fold(aggregate, ScoreFold::NanProduct::kKept);
  const std::vector<Input> sets = BySize(inputs, empty_fold);
  const std::span<const Input> others = std::span(sets).subspan(1);
  Walk(sets[0].set, [&](const Element& element) {
    const auto score = Intersected(element, sets[0], others);
    if (score) result.Add(element.member, *score);
  });
}

// Adds the elements of the difference to `result`.
template <class Result>
void Subtract(std::span<const WeightedSet> inputs, Result& result) {
  if (inputs.empty()) return;
  const std::vector<Input> others = Distinct(inputs.subspan(1), ScoreFold(Aggregate::kSum));
  Walk(inputs[0], [&](const Element& element) {
    if (!InAny(element.member, others)) result.Add(element.member, element.score);
  });
}

}  // namespace

size_t WeightedSet::size() const {
  if (set != nullptr) return set->size();
  return plain != nullptr ? plain->size() : 0;
}

std::optional<double> WeightedSet::Score(std::string_view member) const {
  if (set != nullptr) return set->Score(member);
  if (plain == nullptr || !plain->Contains(member)) return std::nullopt;
  return kPlainScore;
}

SortedSet Union(std::span<const WeightedSet> inputs, Aggregate aggregate) {
  return WithUnion(inputs, aggregate, [](UnionTable& table) { return table.Build(); });
}

void SelectUnion(std::span<const WeightedSet> inputs, Aggregate aggregate,
                 ElementSelector& selector) {
  WithUnion(inputs, aggregate, [&](UnionTable& table) {
    table.ForEach([&](std::string_view member, double score) { selector.Add(member, score); });
  });
}

SortedSet Intersection(std::span<const WeightedSet> inputs, Aggregate aggregate) {
  SortedSetBuilder result;
  Intersect(inputs, aggregate, result);
  return *result.Build();
}

void SelectIntersection(std::span<const WeightedSet> inputs, Aggregate aggregate,
                        ElementSelector& selector) {
  Intersect(inputs, aggregate, selector);
}

size_t IntersectionSize(std::span<const WeightedSet> inputs, size_t most) {
  if (inputs.empty() || AnyIsEmpty(inputs)) return 0;
  const std::vector<Input> sets = BySize(inputs, ScoreFold(Aggregate::kSum));
  const std::span<const Input> others = std::span(sets).subspan(1);

  size_t count = 0;
  WalkWhile(sets[0].set, [&](const Element& element) {
    count += InAll(element.member, others);
    return count < most;
  });
  return count;
}

SortedSet Difference(std::span<const WeightedSet> inputs) {
  SortedSetBuilder result;
  Subtract(inputs, result);
  return *result.Build();
}

void SelectDifference(std::span<const WeightedSet> inputs, ElementSelector& selector) {
  Subtract(inputs, selector);
}

}  // namespace zsetd
