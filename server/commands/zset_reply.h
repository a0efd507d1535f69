#pragma once

#include <cstddef>

#include "core/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// Replies the elements of `ranks`, which lie in the set; the highest first where `reversed`. With
// scores, RESP3 gives each element as a pair and RESP2 one flat array. A null set is an empty one.
void ReplyElements(Call& call, const SortedSet* set, RankRange ranks, bool reversed,
                   bool with_scores);

}  // namespace zsetd
