#pragma once

#include <lua.hpp>

namespace zsetd {

// Pushes the fields of the library redis, as in Redis: call, pcall, error_reply, ... They act on
// the interpreter's current run.
void PushRedisApi(lua_State* lua);

}  // namespace zsetd
