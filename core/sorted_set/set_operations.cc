#include "core/sorted_set/set_operations.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/sorted_set/sorted_set_builder.h"
#include "core/sorted_set/union_table.h"

namespace zsetd {
namespace {

double Weighted(double score, double weight, Aggregate aggregate) {
  if (aggregate == Aggregate::kCount) return weight;
  const double product = score * weight;
  return std::isnan(product) ? 0 : product;
}

double Least(double a, double b) { return std::min(a, b); }
double Greatest(double a, double b) { return std::max(a, b); }
double Sum(double a, double b) {
  const double sum = a + b;
  return std::isnan(sum) ? 0 : sum;
}

UnionTable::Combine CombineOf(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kMin:
      return Least;
    case Aggregate::kMax:
      return Greatest;
    case Aggregate::kSum:
    case Aggregate::kCount:
      break;
  }
  return Sum;
}

// An input with all the weights under which it was given. So one that is named a thousand times is
// walked once, and its members are looked up once.
struct Input {
  WeightedSet set;
  std::vector<double> weights;

  // What the score becomes under all of them.
  double Weigh(double score, Aggregate aggregate) const {
    const UnionTable::Combine combine = CombineOf(aggregate);
    double weighed = Weighted(score, weights[0], aggregate);
    for (size_t i = 1; i < weights.size(); ++i) {
      weighed = combine(weighed, Weighted(score, weights[i], aggregate));
    }
    return weighed;
  }
};

const void* IdentityOf(const WeightedSet& input) {
  return input.set != nullptr ? static_cast<const void*>(input.set) : input.plain;
}

// Each that is not empty once, in the order they came in.
std::vector<Input> Distinct(std::span<const WeightedSet> inputs) {
  std::vector<Input> distinct;
  std::unordered_map<const void*, size_t> places;
  for (const WeightedSet& input : inputs) {
    if (input.size() == 0) continue;
    const auto [place, is_new] = places.try_emplace(IdentityOf(input), distinct.size());
    if (is_new) distinct.push_back({.set = input, .weights = {}});
    distinct[place->second].weights.push_back(input.weight);
  }
  return distinct;
}

// The smallest first. The order of floating-point sums shows in their last digits, and this is the
// order in which Redis adds.
std::vector<Input> BySize(std::span<const WeightedSet> inputs) {
  std::vector<Input> sorted = Distinct(inputs);
  std::ranges::stable_sort(sorted, {}, [](const Input& input) { return input.set.size(); });
  return sorted;
}

bool AnyIsEmpty(std::span<const WeightedSet> inputs) {
  return std::ranges::any_of(inputs, [](const WeightedSet& input) { return input.size() == 0; });
}

// The score of `first` in the intersection with `others`, or nothing if one of them lacks it.
std::optional<double> Intersected(const Element& element, const Input& first,
                                  std::span<const Input> others, Aggregate aggregate) {
  const UnionTable::Combine combine = CombineOf(aggregate);
  double score = first.Weigh(element.score, aggregate);
  for (const Input& other : others) {
    const std::optional<double> found = other.set.Score(element.member);
    if (!found) return std::nullopt;
    score = combine(score, other.Weigh(*found, aggregate));
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

void AddAll(const Input& input, Aggregate aggregate, UnionTable& table) {
  const SortedSet* set = input.set.set;
  if (set == nullptr) {
    return Walk(input.set, [&](const Element& element) {
      table.Add(element.member, input.Weigh(element.score, aggregate));
    });
  }
  for (auto at = set->At(0); at.valid(); at.Next()) {
    table.Add(at.member_size(), input.Weigh(at.score(), aggregate),
              [&at](char* to) { at.WriteMember(to); });
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
  const std::vector<Input> sets = BySize(inputs);
  UnionTable table(CombineOf(aggregate), sets.empty() ? 0 : sets.back().set.size());
  for (const Input& input : sets) AddAll(input, aggregate, table);
  return table.Build();
}

SortedSet Intersection(std::span<const WeightedSet> inputs, Aggregate aggregate) {
  if (inputs.empty() || AnyIsEmpty(inputs)) return SortedSet();
  const std::vector<Input> sets = BySize(inputs);
  const std::span<const Input> others = std::span(sets).subspan(1);

  SortedSetBuilder result;
  Walk(sets[0].set, [&](const Element& element) {
    const auto score = Intersected(element, sets[0], others, aggregate);
    if (score) result.Add(element.member, *score);
  });
  return *result.Build();
}

size_t IntersectionSize(std::span<const WeightedSet> inputs, size_t most) {
  if (inputs.empty() || AnyIsEmpty(inputs)) return 0;
  const std::vector<Input> sets = BySize(inputs);
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
  if (inputs.empty()) return SortedSet();
  const std::vector<Input> others = Distinct(inputs.subspan(1));
  Walk(inputs[0], [&](const Element& element) {
    if (!InAny(element.member, others)) result.Add(element.member, element.score);
  });
  return *result.Build();
}

}  // namespace zsetd
