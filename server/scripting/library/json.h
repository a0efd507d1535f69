#pragma once

#include <lua.hpp>

namespace zsetd {

// The library cjson converts JSON to Lua values and back, compatible with lua-cjson. RapidJSON
// reads the text.
//
// An array is a table 1..n, null is cjson.null. encode_max_depth and decode_max_depth bound the
// nesting, 1000 unless a script sets them; the Lua stack bounds it in any case. The interpreter's
// limit bounds the memory.

struct JsonSettings;

// Pushes the library's fields. Returns the settings, which live as long as its functions.
JsonSettings& PushJsonLibrary(lua_State* lua);

// Restores the default settings. A setting lasts until the end of the run that made it.
void Reset(JsonSettings& settings);

}  // namespace zsetd
