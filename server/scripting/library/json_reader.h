#pragma once

#include <lua.hpp>

namespace zsetd {

// cjson.decode(text) returns the value of a JSON text, by the settings of its instance
// (json_settings.h). An invalid text is an error of the script, in lua-cjson's words, with the
// place.
int DecodeJson(lua_State* lua);

}  // namespace zsetd
