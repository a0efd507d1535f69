#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "protocol/resp/args.h"
#include "server/scripting/interpreter/interpreter.h"

namespace zsetd {

struct JsonSettings;

// The generator of math.random, which is drand48 as in Redis. Its sequence continues from run to
// run.
struct LuaRandom {
  using Bits = std::array<unsigned short, 3>;
  Bits bits;
  Bits bits_to_restore;  // valid after math.randomseed
  bool is_seeded_by_run = false;
};

// The environment of scripts: the functions of Lua 5.1 that only compute, and the libraries redis,
// cjson, cmsgpack, struct and bit. Scripts cannot reach the system: there is no io, package, debug,
// ffi or jit, no bytecode, and os has only the processor time.
//
// A run cannot change anything that outlives it. Libraries are userdata whose fields cannot be
// assigned, not even by rawset or table.insert. Each run has an empty table of globals. Its hidden
// metatable finds the fixed globals, including KEYS and ARGV, and refuses to create new ones.
class Sandbox {
 public:
  // `seed` is the seed of math.random.
  Sandbox(Interpreter& interpreter, uint64_t seed);

  // Pushes a new table of globals.
  void PushEnvironment(lua_State* lua) const;

  // Pushes a table of globals that all runs share. Only for scripts that cannot refer to the table
  // itself, and so cannot leave anything in it.
  void PushSharedEnvironment(lua_State* lua);

  // Sets KEYS and ARGV, which all environments share.
  void SetArguments(lua_State* lua, Args keys, Args args) const;

  // Undoes the settings of the last run: those of cjson, and math.randomseed. math.random then
  // continues as if that run had not used it.
  void BeginRun();

  // While a library is loaded, hides the functions that only make sense during a call, such as
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
  LuaReference redis_library_;  // the fields of the library
  LuaReference math_library_;
  LuaReference globals_;
  LuaReference shared_environment_ = LUA_NOREF;
  LuaReference keys_name_;  // "KEYS"
  LuaReference args_name_;  // "ARGV"
  LuaReference state_;      // of the Lua part; reset for each run
  uint64_t failures_ = 0;   // the interpreter's failures() when the state was last reset
};

}  // namespace zsetd
