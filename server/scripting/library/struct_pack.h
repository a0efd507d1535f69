#pragma once

#include <lua.hpp>

namespace zsetd {

// Pushes the fields of the library struct, which converts numbers and strings to bytes of a given
// layout and back, like the library in Redis.
//
//   > < =native order   ! alignment, !n at most n        x  a padding byte
//   b B h H l L         signed and unsigned char, short, long      T  size_t
//   i I, in In          int, or n bytes up to 8 that count of 32   f d  float, double
//   s                   a string up to its zero byte     c, cn, c0  1, n, or as many bytes as the
//                                                        number before it
void PushStructLibrary(lua_State* lua);

}  // namespace zsetd
