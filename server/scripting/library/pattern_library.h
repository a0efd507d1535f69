#pragma once

#include <lua.hpp>

namespace zsetd {

// Pushes a table of pattern functions for the Lua part of the sandbox. They are long calls:
//
//   find, match    like string.find and string.match
//   next_match     (text, pattern, from): like the iterator of string.gmatch. Returns the start of
//                  the next search, then the captures
//   scan           (text, pattern, from, is_anchored): returns the start and the end of a match,
//   then
//                  its captures
//   replace        like string.gsub with a string or a number as the replacement
void PushPatternLibrary(lua_State* lua);

}  // namespace zsetd
