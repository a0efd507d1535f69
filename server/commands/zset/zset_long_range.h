#pragma once

#include <cstddef>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/zset/zset_range_request.h"
#include "server/engine/call.h"

namespace zsetd {

// Replies of many elements are written from a copy of the set, as the client reads. To copy a set
// takes about as much time as to reply all its members, or half of them with scores; the rest of
// the reply then delays no other client. Replies of an unchanged set share one copy.

// Whether `elements` of the set are replied in this way: they are many, they are a quarter of the
// set at least, and the reply may be delayed.
bool IsLongRange(const Call& call, const SortedSet& set, size_t elements);

// Replies the elements of `ranks` in this way. Precondition: there are some.
void ReplyElementsAtLength(Call& call, std::string_view key, const SortedSet& set, RankRange ranks,
                           const RangeRequest& request);

// Replies the elements of the request's range that match its pattern, within its limit. Compares
// the first 16,384 elements in one turn. If more are left and the range is a sixteenth of the set
// at least, compares in steps, from a copy; otherwise compares all in this turn.
void ReplyMatches(Call& call, std::string_view key, const SortedSet& set,
                  const RangeRequest& request);

}  // namespace zsetd
