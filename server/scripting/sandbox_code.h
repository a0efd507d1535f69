#pragma once

#include <string_view>

namespace zsetd {

// The part of the sandbox that is written in Lua: replacements of those Lua library functions that
// call back into a script. LuaJIT cannot suspend a coroutine while a C function waits for such a
// callback. A Lua function leaves no C code in between. The code is called with the functions that
// it uses, and returns the replacements.
extern const std::string_view kSandboxCode;

}  // namespace zsetd
