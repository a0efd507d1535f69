#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace zsetd {

// The length in bytes of the first whole reply in `bytes`, RESP2 or RESP3, parts and attributes
// included; nothing while its end has not arrived. Malformed bytes count as a reply of one line.
// Nesting is followed without recursion. For tests and load generators.
std::optional<size_t> ReplyLength(std::string_view bytes);

}  // namespace zsetd
