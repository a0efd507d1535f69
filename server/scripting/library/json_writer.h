#pragma once

#include <lua.hpp>

namespace zsetd {

// cjson.encode(value) returns the value as JSON, by the settings of its instance (json_settings.h).
// The function is a long call: push it by PushLongFunction. A long text is written in steps,
// between which the script can be suspended and killed, and script-memory-limit bounds its size.
int EncodeJson(lua_State* lua);

}  // namespace zsetd
