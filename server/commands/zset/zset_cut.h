#pragma once

#include "core/sorted_set/sorted_set.h"
#include "core/util/range.h"
#include "server/engine/store/edit.h"

namespace zsetd {

// Removes the elements of the range from the set, records their members, and frees large parts in
// the background. O(log n + removed).
void CutRanks(Edit<SortedSet>& set, RankRange ranks);

}  // namespace zsetd
