#pragma once

#include <lua.hpp>

namespace zsetd {

// Pushes a table of the functions of `string` that match patterns, for the Lua part of the sandbox.
// They are long calls:
//
//   find, match    as string.find and string.match
//   next_match     (text, pattern, from) as the iterator of string.gmatch: where the next search
//                  begins, then the captures
//   scan           (text, pattern, from, is_anchored) the start and the end of a match, then its
//                  captures
//   replace        as string.gsub with a string or a number as the replacement
void PushPatternLibrary(lua_State* lua);

}  // namespace zsetd
