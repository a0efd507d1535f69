#include "tests/server/scripting/sandboxed_lua.h"

#include <algorithm>

#include "server/scripting/lua_values.h"

namespace zsetd {

SandboxedLua::Outcome SandboxedLua::Run(std::string_view code, bool hurried, int most_slices) {
  std::string error;
  const auto chunk = interpreter_.Compile(code, "@user_script", error);
  if (!chunk) return {.ended = true, .failed = true, .slices = 0, .text = error};
  sandbox_.BeginRun();
  lua_State* const lua = interpreter_.run_thread();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, *chunk);
  sandbox_.SetArguments(lua, {}, {});
  sandbox_.PushEnvironment(lua);
  lua_pushvalue(lua, -1);
  lua_replace(lua, LUA_GLOBALSINDEX);
  lua_setfenv(lua, -2);
  is_late_ = hurried && code.find("redis.hurry()") == std::string_view::npos;
  const Micros until = hurried ? Micros(1) : Micros(2);
  looked_at_ = ProcessorTime();
  Outcome outcome;
  auto result = interpreter_.Start(nullptr, 0, until);
  for (outcome.slices = 1; result == Interpreter::Result::kSuspended; ++outcome.slices) {
    if (outcome.slices >= most_slices) break;
    result = interpreter_.Resume(until);
  }
  NoteGap();
  looked_at_ = kNotRunning;
  outcome.ended = result != Interpreter::Result::kSuspended;
  outcome.failed = result == Interpreter::Result::kFailed;
  lua_State* const stack = interpreter_.state_of_run();
  if (outcome.failed) {
    outcome.text = TextOfError(stack, -1).line;
  } else if (outcome.ended && lua_gettop(stack) > 0) {
    size_t size = 0;
    const char* const text = lua_tolstring(stack, 1, &size);
    if (text != nullptr) outcome.text.assign(text, size);
  }
  interpreter_.EndRun();
  interpreter_.Release(*chunk);
  return outcome;
}

int SandboxedLua::Probe(lua_State* lua) {
  auto& self = *static_cast<SandboxedLua*>(lua_touserdata(lua, lua_upvalueindex(1)));
  ++self.probes_;
  if (lua_isyieldable(lua) == 0) ++self.failed_probes_;
  return 0;
}

int SandboxedLua::Fields(lua_State* lua) {
  lua_newtable(lua);
  if (!lua_isuserdata(lua, 1) || lua_getmetatable(lua, 1) == 0) return 1;
  lua_getfield(lua, -1, "__index");
  for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
    lua_pushvalue(lua, -2);
    lua_pushvalue(lua, -2);
    lua_rawset(lua, -7);
  }
  lua_pop(lua, 2);
  return 1;
}

int SandboxedLua::Hurry(lua_State* lua) {
  auto& self = *static_cast<SandboxedLua*>(lua_touserdata(lua, lua_upvalueindex(1)));
  self.is_late_ = true;
  self.looked_at_ = ProcessorTime();
  return 0;
}

void SandboxedLua::NoteGap() {
  const double now = ProcessorTime();
  longest_gap_ = std::max(longest_gap_, now - looked_at_);
  looked_at_ = now;
}

Micros SandboxedLua::Look() {
  if (looked_at_ != kNotRunning) NoteGap();
  return is_late_ ? Micros(1) : Micros(0);
}

}  // namespace zsetd
