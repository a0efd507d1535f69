#pragma once

#include <lua.hpp>

namespace zsetd {

// The library cjson: JSON to Lua values and back, as lua-cjson has it. RapidJSON reads.
//
// An array is a table 1..n, null is cjson.null. Nesting is bounded by encode_max_depth and
// decode_max_depth, 1000 unless a script sets it, and by the Lua stack in any case; memory by what
// the interpreter may take.

struct JsonSettings;

// Pushes its fields, and returns the settings, which exist as long as its functions.
JsonSettings& PushJsonLibrary(lua_State* lua);

// Takes back what scripts have set: a setting lasts for the run that made it.
void Reset(JsonSettings& settings);

}  // namespace zsetd
