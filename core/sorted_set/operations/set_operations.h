#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "core/set/set.h"
#include "core/sorted_set/element_selector.h"
#include "core/sorted_set/score_fold.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd {

// An input: a sorted set, or a plain one whose members all have the score 1; if both are null, an
// empty one. Scores are multiplied by the weight first.
struct WeightedSet {
  const SortedSet* set = nullptr;
  double weight = 1;
  const Set* plain = nullptr;

  size_t size() const;
  std::optional<double> Score(std::string_view member) const;
};

// Scores are combined from the smallest input to the largest (score_fold.h), as in Redis.
// Both build the result in one accumulating pass: O(N) for N elements in all inputs, plus the
// result's sorting. A set may be given more than once: it is walked once, and all of its weights
// are applied to each element.
SortedSet Union(std::span<const WeightedSet> inputs, Aggregate aggregate);

// The elements of the union, without building it. O(N).
void SelectUnion(std::span<const WeightedSet> inputs, Aggregate aggregate,
                 ElementSelector& selector);

// Walks the smallest input and looks its members up in the others.
SortedSet Intersection(std::span<const WeightedSet> inputs, Aggregate aggregate);
void SelectIntersection(std::span<const WeightedSet> inputs, Aggregate aggregate,
                        ElementSelector& selector);

// How many members all inputs share; counts no further than `most`.
size_t IntersectionSize(std::span<const WeightedSet> inputs, size_t most);

// The elements of the first input whose members are in none of the others, with the scores they
// have there. Weights do not count. O(N * inputs) for N elements of the first.
SortedSet Difference(std::span<const WeightedSet> inputs);
void SelectDifference(std::span<const WeightedSet> inputs, ElementSelector& selector);

}  // namespace zsetd
