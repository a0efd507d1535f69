#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "protocol/resp/args.h"
#include "server/scripting/interpreter/interpreter.h"

namespace zsetd {

struct JsonSettings;

// The sequence of math.random: that of drand48, as in Redis. It continues from run to run.
struct LuaRandom {
  using Bits = std::array<unsigned short, 3>;
  Bits bits;
  Bits bits_to_restore;  // valid after math.randomseed
  bool is_seeded_by_run = false;
};

// What scripts see: the functions of Lua 5.1 that only compute, and the libraries redis, cjson,
// cmsgpack, struct and bit. There is no way to the system: no io, package, debug, ffi or jit; of os
// the processor time alone; and no bytecode.
//
// Nothing that outlives a run can be changed by one. Libraries are userdata whose fields cannot be
// assigned, not even by rawset or table.insert. A run has an empty table of globals, whose hidden
// metatable finds the fixed ones, with KEYS and ARGV among them, and refuses to make new ones.
class Sandbox {
 public:
  // `seed` is that of math.random.
  Sandbox(Interpreter& interpreter, uint64_t seed);

  // Pushes a fresh table of globals.
  void PushEnvironment(lua_State* lua) const;

  // Pushes a table of globals that is the same for each run: for scripts that cannot refer to the
  // table itself, and so can leave nothing in it.
  void PushSharedEnvironment(lua_State* lua);

  // Sets the KEYS and ARGV that all environments have in common.
  void SetArguments(lua_State* lua, Args keys, Args args) const;

  // Undoes the settings that the last run made: those of cjson, and math.randomseed, after which
  // math.random continues as if that run had not drawn from it.
  void BeginRun();

  // While a library is loaded, it cannot reach functions that only make sense in a call, such as
  // redis.call and math.random.
  void BeginLoad();
  void EndLoad();

  // Adds a function to the library redis permanently. Its upvalue 1 is `owner`.
  void AddRedisFunction(const char* name, lua_CFunction function, void* owner);

 private:
  void BeginRunOfLuaPart();
  void SetFields(const char* library, LuaReference fields);
  void HideFields(const char* library, LuaReference fields,
                  std::initializer_list<const char*> hidden);

  Interpreter& interpreter_;
  lua_State* lua_;
  LuaRandom* random_;
  JsonSettings* json_;
  LuaReference environment_metatable_;
  LuaReference redis_library_;  // its fields
  LuaReference math_library_;
  LuaReference globals_;
  LuaReference shared_environment_ = LUA_NOREF;
  LuaReference keys_name_;  // "KEYS"
  LuaReference args_name_;  // "ARGV"
  LuaReference state_;      // of the part in Lua: reset at each run
  uint64_t failures_ = 0;   // of the interpreter, when it was recreated
};

}  // namespace zsetd
