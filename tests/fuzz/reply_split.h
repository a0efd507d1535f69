#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace zsetd {

// Splits `bytes` into replies and messages; returns nullopt if any is malformed or incomplete. It
// is stricter than a client: a line has no CR, LF or NUL, a number is valid, every bulk has its
// end.
std::optional<std::vector<std::string_view>> SplitReplies(std::string_view bytes);

}  // namespace zsetd
