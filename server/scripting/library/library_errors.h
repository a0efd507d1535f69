#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

namespace zsetd {

// The chunk name of the Lua part of the sandbox.
constexpr char kSandboxChunk[] = "=sandbox";

// Errors of library functions that scripts call through the Lua part of the sandbox. Like
// luaL_error and similar functions, but with the position and the function name of the script's
// call.

[[noreturn]] void Fail(lua_State* lua, const std::string& text);
[[noreturn]] void FailArgument(lua_State* lua, int index, const char* function,
                               const std::string& reason);

// Raises LuaJIT's error for a state that has reached its memory limit.
[[noreturn]] void FailMemory(lua_State* lua);

// Makes room for that many values on the stack. Otherwise raises an error that contains `what`.
void CheckStack(lua_State* lua, int count, const char* what);

// Returns the argument, which is a string or a number. A number is converted in place.
std::string_view TextArgument(lua_State* lua, int index, const char* function);

// Returns the argument, or `otherwise` if it is absent or nil.
lua_Integer OptionalInteger(lua_State* lua, int index, const char* function, lua_Integer otherwise);

// "string expected, got table"
std::string WrongType(lua_State* lua, int index, const char* expected);

}  // namespace zsetd
