#pragma once

#include <cstddef>
#include <span>

#include "core/set/set.h"

namespace zsetd {

// The operands of a set operation. A null set is an empty one, and a set may occur more than once.
using Sets = std::span<const Set* const>;

// O(N) for N members in all sets.
Set Union(Sets sets, const SetLimits& limits);

// Iterates over the smallest set and looks up its members in the others.
Set Intersection(Sets sets, const SetLimits& limits);

// The number of members that all sets share; stops counting at `most`.
size_t IntersectionSize(Sets sets, size_t most);

// The members of the first set that are in none of the others. O(N * sets) for N members in the
// first set.
Set Difference(Sets sets, const SetLimits& limits);

}  // namespace zsetd
