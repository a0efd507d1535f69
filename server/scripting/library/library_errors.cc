#include "server/scripting/library/library_errors.h"

#include <cstdlib>
#include <cstring>

namespace zsetd {
namespace {

// Finds the innermost frame outside the sandbox, which called the function. Returns false if no
// script called it.
bool FindCaller(lua_State* lua, lua_Debug& frame) {
  for (int level = 1; lua_getstack(lua, level, &frame) != 0; ++level) {
    lua_getinfo(lua, "Sl", &frame);
    if (std::strcmp(frame.source, kSandboxChunk) != 0) return true;
  }
  return false;
}

// Whether the script wrote text:find() rather than string.find(text).
bool IsMethodCall(lua_State* lua) {
  lua_Debug frame;
  if (lua_getstack(lua, 1, &frame) == 0) return false;
  lua_getinfo(lua, "n", &frame);
  return std::strcmp(frame.namewhat, "method") == 0;
}

}  // namespace

void Fail(lua_State* lua, const std::string& text) {
  lua_Debug frame;
  if (FindCaller(lua, frame) && frame.currentline > 0) {
    lua_pushfstring(lua, "%s:%d: ", frame.short_src, frame.currentline);
  } else {
    lua_pushliteral(lua, "");
  }
  lua_pushlstring(lua, text.data(), text.size());
  lua_concat(lua, 2);
  lua_error(lua);
  std::abort();
}

void FailArgument(lua_State* lua, int index, const char* function, const std::string& reason) {
  if (IsMethodCall(lua) && --index == 0) {
    Fail(lua, "calling '" + std::string(function) + "' on bad self (" + reason + ")");
  }
  Fail(lua, "bad argument #" + std::to_string(index) + " to '" + function + "' (" + reason + ")");
}

void FailMemory(lua_State* lua) {
  lua_pushliteral(lua, "not enough memory");
  lua_error(lua);
  std::abort();
}

void CheckStack(lua_State* lua, int count, const char* what) {
  if (lua_checkstack(lua, count) == 0) {
    Fail(lua, std::string("stack overflow (") + what + ")");
  }
}

std::string WrongType(lua_State* lua, int index, const char* expected) {
  const int type = lua_type(lua, index);
  return std::string(expected) + " expected, got " +
         (type == LUA_TNONE ? "no value" : lua_typename(lua, type));
}

std::string_view TextArgument(lua_State* lua, int index, const char* function) {
  size_t size = 0;
  const char* const text = lua_tolstring(lua, index, &size);
  if (text == nullptr) FailArgument(lua, index, function, WrongType(lua, index, "string"));
  return {text, size};
}

lua_Integer OptionalInteger(lua_State* lua, int index, const char* function,
                            lua_Integer otherwise) {
  if (lua_isnoneornil(lua, index)) return otherwise;
  if (lua_isnumber(lua, index) == 0) {
    FailArgument(lua, index, function, WrongType(lua, index, "number"));
  }
  return lua_tointeger(lua, index);
}

}  // namespace zsetd
