#pragma once

#include <cstddef>

#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// Starts a reply of `count` elements. With scores, the reply is an array of pairs in RESP3, and a
// flat array in RESP2.
void StartElements(ReplyWriter& reply, size_t count, bool with_scores);
void ReplyElement(ReplyWriter& reply, const Element& element, bool with_scores);
void ReplyElement(ReplyWriter& reply, const SortedSet::Cursor& at, bool with_scores);

// Replies the elements of `ranks`, which are within the set, the highest first if `reversed`. A
// null set is empty.
void ReplyElements(Call& call, const SortedSet* set, RankRange ranks, bool reversed,
                   bool with_scores);

}  // namespace zsetd
