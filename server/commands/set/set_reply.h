#pragma once

#include "core/set/set.h"
#include "server/engine/call.h"

namespace zsetd {

// Replies all members. A null set is empty.
inline void ReplyMembers(Call& call, const Set* set) {
  call.reply.Set(set == nullptr ? 0 : set->size());
  if (set != nullptr) set->ForEach([&](std::string_view member) { call.reply.Bulk(member); });
}

}  // namespace zsetd
