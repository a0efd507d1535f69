#pragma once

#include <lua.hpp>

namespace zsetd {

// Pushes the fields of the library cmsgpack: MessagePack to Lua values and back, as lua-cmsgpack
// has it. msgpuck reads and writes the elements. What is nested deeper than 16 tables is packed as
// nil; to unpack, the Lua stack bounds the depth.
void PushMsgPackLibrary(lua_State* lua);

}  // namespace zsetd
