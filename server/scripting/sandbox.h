#pragma once

#include "server/scripting/interpreter.h"

namespace zsetd {

// What scripts see: the functions of Lua 5.1 that only compute, and the libraries redis, cjson,
// cmsgpack, struct and bit. There is no way to the system: no io, package, debug, ffi or jit; of os
// the processor time alone; and no bytecode.
//
// Nothing that outlives a run can be changed by one. Libraries are userdata whose fields cannot be
// assigned, not even by rawset or table.insert. Each run has a fresh table of globals, empty but
// for KEYS and ARGV, whose hidden metatable finds the fixed ones and refuses to make new ones.
class Sandbox {
 public:
  explicit Sandbox(Interpreter& interpreter);

  // Pushes a fresh table of globals.
  void PushEnvironment(lua_State* lua) const;

  // Has the libraries begin a run as each begins: math.random with the same sequence, cjson with
  // its usual settings.
  void BeginRun();

  // Adds a function to the library redis, for good. Its upvalue 1 is `owner`.
  void AddRedisFunction(const char* name, lua_CFunction function, void* owner);

 private:
  void BeginRunOfLuaPart();

  lua_State* lua_;
  LuaReference environment_metatable_;
  LuaReference redis_library_;
  LuaReference state_;  // of the part in Lua: what each run begins anew
};

}  // namespace zsetd
