#pragma once

#include <string>
#include <string_view>

namespace zsetd {

// Returns the code with `nil or ` inserted between `return` and a call of redis.call, cjson.encode,
// error or another library function that returns at most one value.
//
// Redis's errors contain the line of the call that failed. A call directly after `return` is a tail
// call, for which LuaJIT drops the caller's frame and its line. As an operand of `or` it is not a
// tail call. Nothing else changes: `or` has lower precedence than the call, and line numbers stay.
// Strings and comments are not changed.
//
// Calls of a library stay if its name may have another meaning in the code: if it occurs as
// something else than `redis.name` or `error(`, such as a local variable or a parameter. O(size).
std::string WithoutTailCalls(std::string_view code);

}  // namespace zsetd
