#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace zsetd {

// The replies and messages that `bytes` are made of; nothing if any is malformed or not whole.
// Stricter than a client: a line holds no CR, LF or NUL, a number is one, every bulk has its end.
std::optional<std::vector<std::string_view>> SplitReplies(std::string_view bytes);

}  // namespace zsetd
