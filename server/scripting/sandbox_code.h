#pragma once

#include <string_view>

namespace zsetd {

// The part of the sandbox that is written in Lua: the functions of Lua's library that call back
// into a script. LuaJIT cannot suspend a coroutine while a C function waits for such a callback, so
// here they are Lua functions, which do not keep C code in between. It is called with the functions
// it builds on and returns those that replace them.
extern const std::string_view kSandboxCode;

}  // namespace zsetd
