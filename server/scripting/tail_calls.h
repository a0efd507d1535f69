#pragma once

#include <string>
#include <string_view>

namespace zsetd {

// Returns the code with `nil or ` put between `return` and a call of redis.*, cjson.*, error or
// another function that returns one value at most.
//
// Redis's errors name the line of the call that failed. A call directly after `return` is a tail
// call, for which LuaJIT drops the frame of its caller, and with it the line. As an operand of `or`
// it is not a tail call. Nothing else changes: `or` binds weaker than the call, and line numbers
// stay. Strings and comments are not changed. O(size).
std::string WithoutTailCalls(std::string_view code);

}  // namespace zsetd
