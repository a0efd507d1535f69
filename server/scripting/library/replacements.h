#pragma once

#include <lua.hpp>

namespace zsetd {

// Functions that replace LuaJIT's, because those differ from Lua 5.1 or are slow.

// table.insert. A position before the table's start moves the elements from there on, as in
// Lua 5.1, but in a time that depends on the table's size, not on the position.
int TableInsert(lua_State* lua);

// bit.tohex, with at most eight digits.
int BitToHex(lua_State* lua);

}  // namespace zsetd
