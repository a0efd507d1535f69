#pragma once

#include <cstddef>

#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// The parts of a reply of `count` elements: its header, then each of them. With scores, RESP3 has a
// pair for each element, and RESP2 one flat array.
void StartElements(ReplyWriter& reply, size_t count, bool with_scores);
void ReplyElement(ReplyWriter& reply, const Element& element, bool with_scores);
void ReplyElement(ReplyWriter& reply, const SortedSet::Cursor& at, bool with_scores);

// Replies with the elements of `ranks`, which are within the set; the highest first if `reversed`.
// A null set is an empty one.
void ReplyElements(Call& call, const SortedSet* set, RankRange ranks, bool reversed,
                   bool with_scores);

}  // namespace zsetd
