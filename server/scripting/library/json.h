#pragma once

#include <lua.hpp>

namespace zsetd {

// The library cjson converts JSON to Lua values and back. Functions, settings, errors and arrays
// are those of lua-cjson, which Redis uses. It is written on RapidJSON for two reasons:
//
//   - Bounded memory. lua-cjson collects its output in a buffer of its own, which is not counted
//     by script-memory-limit, and runs a call of any length to its end. json_writer.h writes to a
//     ScriptBuffer, and a long call can be suspended (LongCall).
//   - RFC 8259. lua-cjson also reads numbers that are not JSON, such as 0x10 and 01.
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
