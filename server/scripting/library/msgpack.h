#pragma once

#include <lua.hpp>

namespace zsetd {

// Pushes the fields of the library cmsgpack: MessagePack to Lua values and back, compatible with
// lua-cmsgpack. msgpuck reads and writes the elements. Tables nested deeper than 16 are packed as
// nil; the Lua stack bounds the depth of unpacking.
void PushMsgPackLibrary(lua_State* lua);

}  // namespace zsetd
