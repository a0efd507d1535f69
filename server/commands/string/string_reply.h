#pragma once

#include <optional>

#include "core/string/byte_string.h"
#include "server/engine/call.h"

namespace zsetd {

// Replies the string, or null if it does not exist.
inline void ReplyString(Call& call, const std::optional<ByteString>& string) {
  if (!string) return call.reply.Null();
  call.reply.Bulk(string->view());
}

}  // namespace zsetd
