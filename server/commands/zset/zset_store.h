#pragma once

#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// Stores the set at `key`, replacing any value, and replies with its size; an empty set deletes the
// key.
void StoreSet(Call& call, std::string_view key, SortedSet set, std::string_view event);

}  // namespace zsetd
