#include "core/set_algebra.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include "core/score_table.h"

namespace zsetd {
namespace {

double Weighted(double score, double weight, Aggregate aggregate) {
  if (aggregate == Aggregate::kCount) return weight;
  const double product = score * weight;
  return std::isnan(product) ? 0 : product;
}

double Combined(double a, double b, Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kMin:
      return std::min(a, b);
    case Aggregate::kMax:
      return std::max(a, b);
    case Aggregate::kSum:
    case Aggregate::kCount:
      break;
  }
  const double sum = a + b;
  return std::isnan(sum) ? 0 : sum;
}

// The smallest first, empty ones left out. The order of floating-point sums shows in their last
// digits, and this is the order in which Redis adds.
std::vector<WeightedSet> BySize(std::span<const WeightedSet> inputs) {
  std::vector<WeightedSet> sorted;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(sorted),
               [](const WeightedSet& input) { return input.set && !input.set->empty(); });
  std::stable_sort(sorted.begin(), sorted.end(), [](const WeightedSet& a, const WeightedSet& b) {
    return a.set->size() < b.set->size();
  });
  return sorted;
}

// The score of `first` in the intersection with `others`, or nothing if one of them lacks it.
std::optional<double> Intersected(const Element& first, double weight,
                                  std::span<const WeightedSet> others, Aggregate aggregate) {
  double score = Weighted(first.score, weight, aggregate);
  for (const WeightedSet& other : others) {
    const std::optional<double> found = other.set->Score(first.member);
    if (!found) return std::nullopt;
    score = Combined(score, Weighted(*found, other.weight, aggregate), aggregate);
  }
  return score;
}

bool InAll(std::string_view member, std::span<const WeightedSet> sets) {
  return std::ranges::all_of(
      sets, [&](const WeightedSet& input) { return input.set->Score(member).has_value(); });
}

bool InAny(std::string_view member, std::span<const WeightedSet> sets) {
  return std::ranges::any_of(sets, [&](const WeightedSet& input) {
    return input.set != nullptr && input.set->Score(member).has_value();
  });
}

}  // namespace

SortedSet Union(std::span<const WeightedSet> inputs, Aggregate aggregate) {
  ScoreTable table;
  for (const WeightedSet& input : BySize(inputs)) {
    for (SortedSet::Cursor at = input.set->At(0); at.valid(); at.Next()) {
      const Element element = at.element();
      const double score = Weighted(element.score, input.weight, aggregate);
      const auto [held, is_new] = table.Add(element.member, score);
      if (!is_new) *held = Combined(*held, score, aggregate);
    }
  }
  return table.Build();
}

SortedSet Intersection(std::span<const WeightedSet> inputs, Aggregate aggregate) {
  const std::vector<WeightedSet> sets = BySize(inputs);
  if (sets.empty() || sets.size() < inputs.size()) return SortedSet();
  const std::span<const WeightedSet> others = std::span(sets).subspan(1);

  ScoreTable table;
  for (SortedSet::Cursor at = sets[0].set->At(0); at.valid(); at.Next()) {
    const Element element = at.element();
    if (const auto score = Intersected(element, sets[0].weight, others, aggregate)) {
      table.Add(element.member, *score);
    }
  }
  return table.Build();
}

size_t IntersectionSize(std::span<const WeightedSet> inputs, size_t most) {
  const std::vector<WeightedSet> sets = BySize(inputs);
  if (sets.empty() || sets.size() < inputs.size()) return 0;
  const std::span<const WeightedSet> others = std::span(sets).subspan(1);

  size_t count = 0;
  for (SortedSet::Cursor at = sets[0].set->At(0); at.valid() && count < most; at.Next()) {
    count += InAll(at.element().member, others);
  }
  return count;
}

SortedSet Difference(std::span<const WeightedSet> inputs) {
  ScoreTable table;
  if (inputs.empty() || inputs[0].set == nullptr) return SortedSet();
  for (SortedSet::Cursor at = inputs[0].set->At(0); at.valid(); at.Next()) {
    const Element element = at.element();
    if (!InAny(element.member, inputs.subspan(1))) table.Add(element.member, element.score);
  }
  return table.Build();
}

}  // namespace zsetd
