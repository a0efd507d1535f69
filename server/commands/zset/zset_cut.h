#pragma once

#include "core/sorted_set/sorted_set.h"
#include "core/util/range.h"
#include "server/engine/store/edit.h"

namespace zsetd {

// Removes the elements of the range from the set, notes their members, and has freed later what
// takes long. O(log n + removed).
void CutRanks(Edit<SortedSet>& set, RankRange ranks);

}  // namespace zsetd
