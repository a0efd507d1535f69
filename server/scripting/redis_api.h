#pragma once

#include <lua.hpp>

namespace zsetd {

// Pushes the fields of the library redis, as Redis has them: call, pcall, error_reply, ... They act
// on the run that is under way in the interpreter.
void PushRedisApi(lua_State* lua);

}  // namespace zsetd
