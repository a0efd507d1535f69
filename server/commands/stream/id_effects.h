#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "core/stream/stream_id.h"
#include "server/engine/call.h"

namespace zsetd {

// Propagates `words` with the IDs after them, such as XDEL key ID ID, as several requests if the
// IDs are many. Does nothing without IDs or without a journal.
void PropagateIds(Call& call, std::initializer_list<std::string_view> words,
                  std::span<const StreamId> ids);

}  // namespace zsetd
