#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace zsetd {

// The length in bytes of the first complete reply in `bytes` (RESP2 or RESP3), including parts and
// attributes; nullopt if its end has not arrived. Malformed bytes count as a reply of one line.
// Nested replies are parsed without recursion. For tests and load generators.
std::optional<size_t> ReplyLength(std::string_view bytes);

}  // namespace zsetd
