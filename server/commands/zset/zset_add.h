#pragma once

#include <string_view>

#include "server/commands/zset/zset_add_request.h"
#include "server/engine/call.h"

namespace zsetd {

// The set to add to: a new one may only be made where members may be added.
Edit<SortedSet> OpenToAdd(Call& call, std::string_view key, const AddRule& rule);

// Adds one pair, and updates the set's encoding.
AddResult AddOne(SortedSet& set, const Element& pair, const AddRule& rule,
                 const SortedSetLimits& limits);

// Adds all pairs and replies how many members are new, with CH how many are new or have moved.
void AddAll(Call& call, Edit<SortedSet>& set, const AddRequest& request);

}  // namespace zsetd
