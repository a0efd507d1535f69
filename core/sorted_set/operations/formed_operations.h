#pragma once

#include <optional>
#include <span>

#include "core/sorted_set/operations/set_operations.h"
#include "core/sorted_set/score_fold.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd {

enum class SetOperation { kUnion, kIntersection, kDifference };

// A union, intersection or difference of sorted sets whose scores have the same form. Missing
// inputs are empty; weights are ignored. A difference keeps the scores of the first input and
// ignores `aggregate`. A sum of integers may exceed 64 bits until all inputs are added. Returns
// nullopt if a sum or a count is not a score of the form: integers that overflow, all sums of
// tuples, and counts of scores that decay.
//
// A set may be given more than once, and is read once. O(N) for N elements in all inputs of a
// union, O(N * inputs) for N elements in the smallest input of an intersection or the first of a
// difference, plus the sort of the result.
std::optional<SortedSet> CombineFormed(SetOperation operation, std::span<const WeightedSet> inputs,
                                       Aggregate aggregate);

}  // namespace zsetd
