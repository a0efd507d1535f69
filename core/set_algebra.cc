#include "core/set_algebra.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include "core/element_list.h"
#include "core/score_table.h"

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

ScoreTable::Combine CombineOf(Aggregate aggregate) {
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

// The smallest first, empty ones left out. The order of floating-point sums shows in their last
// digits, and this is the order in which Redis adds.
std::vector<WeightedSet> BySize(std::span<const WeightedSet> inputs) {
  std::vector<WeightedSet> sorted;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(sorted),
               [](const WeightedSet& input) { return input.size() > 0; });
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const WeightedSet& a, const WeightedSet& b) { return a.size() < b.size(); });
  return sorted;
}

// The score of `first` in the intersection with `others`, or nothing if one of them lacks it.
std::optional<double> Intersected(const Element& first, double weight,
                                  std::span<const WeightedSet> others, Aggregate aggregate) {
  const ScoreTable::Combine combine = CombineOf(aggregate);
  double score = Weighted(first.score, weight, aggregate);
  for (const WeightedSet& other : others) {
    const std::optional<double> found = other.Score(first.member);
    if (!found) return std::nullopt;
    score = combine(score, Weighted(*found, other.weight, aggregate));
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

bool InAll(std::string_view member, std::span<const WeightedSet> sets) {
  return std::ranges::all_of(
      sets, [&](const WeightedSet& input) { return input.Score(member).has_value(); });
}

bool InAny(std::string_view member, std::span<const WeightedSet> sets) {
  return std::ranges::any_of(
      sets, [&](const WeightedSet& input) { return input.Score(member).has_value(); });
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
  const std::vector<WeightedSet> sets = BySize(inputs);
  ScoreTable table(CombineOf(aggregate), sets.empty() ? 0 : sets.back().size());
  for (const WeightedSet& input : sets) {
    Walk(input, [&](const Element& element) {
      table.Add(element.member, Weighted(element.score, input.weight, aggregate));
    });
  }
  return table.Build();
}

SortedSet Intersection(std::span<const WeightedSet> inputs, Aggregate aggregate) {
  const std::vector<WeightedSet> sets = BySize(inputs);
  if (sets.empty() || sets.size() < inputs.size()) return SortedSet();
  const std::span<const WeightedSet> others = std::span(sets).subspan(1);

  ElementList result;
  Walk(sets[0], [&](const Element& element) {
    const auto score = Intersected(element, sets[0].weight, others, aggregate);
    if (score) result.Add(element.member, *score);
  });
  return result.Build();
}

size_t IntersectionSize(std::span<const WeightedSet> inputs, size_t most) {
  const std::vector<WeightedSet> sets = BySize(inputs);
  if (sets.empty() || sets.size() < inputs.size()) return 0;
  const std::span<const WeightedSet> others = std::span(sets).subspan(1);

  size_t count = 0;
  WalkWhile(sets[0], [&](const Element& element) {
    count += InAll(element.member, others);
    return count < most;
  });
  return count;
}

SortedSet Difference(std::span<const WeightedSet> inputs) {
  ElementList result;
  if (inputs.empty()) return SortedSet();
  Walk(inputs[0], [&](const Element& element) {
    if (!InAny(element.member, inputs.subspan(1))) result.Add(element.member, element.score);
  });
  return result.Build();
}

}  // namespace zsetd
