#pragma once

#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// How many changes a stored set counts for save points. As in Redis, geo searches count the
// elements.
enum class StoreCount { kOne, kElements };

// Stores the set at `key` in place of any value, and replies its size. An empty set deletes the
// key. Returns whether anything changed.
bool StoreSet(Call& call, std::string_view key, SortedSet set, KeyEvent event,
              StoreCount count = StoreCount::kOne);

}  // namespace zsetd
