#pragma once

#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// Puts the set at `key`, over what stands there, and replies its size; an empty one leaves no key.
void StoreSet(Call& call, std::string_view key, SortedSet set, std::string_view event);

}  // namespace zsetd
