#pragma once

#include <cstddef>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/zset/zset_range_request.h"
#include "server/engine/call.h"

namespace zsetd {

// Replies of many elements are written from a copy of the set, as the client reads. A copy costs
// about a twentieth of a reply of all elements. Replies of an unchanged set share one.

// Whether `elements` of the set are replied, or compared, in this way: they are many, they are a
// sixteenth of the set at least, and the reply may be delayed.
bool IsLongRange(const Call& call, const SortedSet& set, size_t elements);

// Replies the elements of `ranks` in this way. Precondition: there are some.
void ReplyElementsAtLength(Call& call, std::string_view key, const SortedSet& set, RankRange ranks,
                           const RangeRequest& request);

// Replies the elements of the request's range that match its pattern, within its limit. Many
// elements are compared in steps.
void ReplyMatches(Call& call, std::string_view key, const SortedSet& set,
                  const RangeRequest& request);

}  // namespace zsetd
