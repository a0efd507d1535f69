#pragma once

#include <lua.hpp>

namespace zsetd {

// Functions that replace functions of LuaJIT that differ from Lua 5.1 or are slow.

// table.insert. If the position is before the table's start, moves the elements from there on, as
// in Lua 5.1. The time depends on the table's size, not on the position.
int TableInsert(lua_State* lua);

// bit.tohex, with at most eight digits.
int BitToHex(lua_State* lua);

}  // namespace zsetd
