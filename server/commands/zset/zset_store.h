#pragma once

#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// The number of changes that a stored set counts for save points: Redis counts the elements of geo
// searches.
enum class StoreCount { kOne, kElements };

// Stores the set at `key`, replacing any value, and replies with its size; an empty set deletes the
// key. Returns whether anything has changed.
bool StoreSet(Call& call, std::string_view key, SortedSet set, KeyEvent event,
              StoreCount count = StoreCount::kOne);

}  // namespace zsetd
