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

// An input: a sorted set, or a plain set whose members have the score 1. If both are null, the
// input is empty. Scores are multiplied by the weight first.
struct WeightedSet {
  const SortedSet* set = nullptr;
  double weight = 1;
  const Set* plain = nullptr;

  size_t size() const;
  std::optional<double> Score(std::string_view member) const;
};

// Scores are combined from the smallest input to the largest (score_fold.h), as in Redis. The
// result is built in one pass: O(N) for N elements in all inputs, plus the sort of the result. A
// set may be given more than once. It is iterated once, and all of its weights are applied to each
// element.
SortedSet Union(std::span<const WeightedSet> inputs, Aggregate aggregate);

// Adds the elements of the union to `selector` without building a set. O(N).
void SelectUnion(std::span<const WeightedSet> inputs, Aggregate aggregate,
                 ElementSelector& selector);

// Iterates over the smallest input and looks up its members in the others.
SortedSet Intersection(std::span<const WeightedSet> inputs, Aggregate aggregate);
void SelectIntersection(std::span<const WeightedSet> inputs, Aggregate aggregate,
                        ElementSelector& selector);

// The number of members that all inputs share; stops counting at `most`.
size_t IntersectionSize(std::span<const WeightedSet> inputs, size_t most);

// The elements of the first input whose members are in none of the others, with their scores there.
// Weights are ignored. O(N * inputs) for N elements in the first input.
SortedSet Difference(std::span<const WeightedSet> inputs);
void SelectDifference(std::span<const WeightedSet> inputs, ElementSelector& selector);

}  // namespace zsetd
