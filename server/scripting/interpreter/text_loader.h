#pragma once

#include <functional>
#include <lua.hpp>
#include <string_view>

namespace zsetd {

// Compiles a text and pushes its function, or a message; returns lua_loadx's status. LuaJIT needs
// far more than linear time for some texts, such as thousands of `goto`. Therefore it gets the text
// in pieces. `check` is called before each of them, and may raise a Lua error, which becomes the
// message. It does not run in a coroutine that can be suspended.
//
// Cost: between two calls of `check` about half a second at most. LuaJIT limits the labels, jumps
// and instructions of a function, so no more than that is quadratic.
int LoadText(lua_State* lua, std::string_view text, const char* chunk_name,
             const std::function<void(lua_State*)>& check);

}  // namespace zsetd
