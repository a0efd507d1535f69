#pragma once

#include <string>
#include <string_view>

namespace zsetd {

// Returns the code with `nil or ` inserted between `return` and a call of redis.*, cjson.*, error
// or another function that returns at most one value.
//
// Redis's errors contain the line of the call that failed. A call directly after `return` is a tail
// call, for which LuaJIT drops the caller's frame and its line. As an operand of `or` it is not a
// tail call. Nothing else changes: `or` has lower precedence than the call, and line numbers stay.
// Strings and comments are not changed. O(size).
std::string WithoutTailCalls(std::string_view code);

}  // namespace zsetd
