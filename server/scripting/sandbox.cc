#include "server/scripting/sandbox.h"

#include <cassert>
#include <cstdlib>
#include <ctime>
#include <new>
#include <string>
#include <utility>

#include "server/scripting/interpreter/text_loader.h"
#include "server/scripting/library/json.h"
#include "server/scripting/library/library_errors.h"
#include "server/scripting/library/long_call.h"
#include "server/scripting/library/msgpack.h"
#include "server/scripting/library/pattern_library.h"
#include "server/scripting/library/replacements.h"
#include "server/scripting/library/struct_pack.h"
#include "server/scripting/lua_values.h"
#include "server/scripting/redis_api.h"
#include "server/scripting/sandbox_code.h"

namespace zsetd {
namespace {

constexpr char kReadOnly[] = "Attempt to modify a readonly table";

// The functions that the sandbox takes from a Lua library.
struct Source {
  const char* library;  // null: the globals
  std::initializer_list<const char*> names;
};

const std::initializer_list<const char*> kBase = {
    "assert", "error",    "getmetatable", "ipairs",   "next",   "rawget",  "rawequal",
    "select", "tonumber", "type",         "tostring", "unpack", "_VERSION"};
const std::initializer_list<const char*> kString = {"byte", "char", "len",     "lower",
                                                    "rep",  "sub",  "reverse", "upper"};
const std::initializer_list<const char*> kTable = {"getn", "maxn", "remove"};
const std::initializer_list<const char*> kMath = {
    "abs",   "acos", "asin",  "atan", "atan2", "ceil", "cos",   "cosh", "deg", "exp",
    "floor", "fmod", "frexp", "huge", "ldexp", "log",  "log10", "max",  "min", "modf",
    "pi",    "pow",  "rad",   "sin",  "sinh",  "sqrt", "tan",   "tanh"};

char random_key;  // its address is the registry's key of the state

LuaRandom& RandomOf(lua_State* lua) {
  lua_pushlightuserdata(lua, &random_key);
  lua_rawget(lua, LUA_REGISTRYINDEX);
  auto* const state = static_cast<LuaRandom*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  return *state;
}

LuaRandom::Bits BitsOfSeed(uint32_t seed) {
  return {0x330e, static_cast<unsigned short>(seed), static_cast<unsigned short>(seed >> 16)};
}

// Returns the next 31 bits.
int32_t NextRandom(lua_State* lua) {
  return static_cast<int32_t>(nrand48(RandomOf(lua).bits.data()));
}

int Random(lua_State* lua) {
  constexpr int32_t kMost = INT32_MAX;
  const lua_Number share = static_cast<lua_Number>(NextRandom(lua) % kMost) / kMost;
  const auto between = [&](lua_Number low, lua_Number high) {
    lua_pushnumber(lua, static_cast<lua_Number>(static_cast<int64_t>(share * (high - low + 1)) +
                                                static_cast<int64_t>(low)));
    return 1;
  };
  switch (lua_gettop(lua)) {
    case 0:
      lua_pushnumber(lua, share);
      return 1;
    case 1: {
      const lua_Integer high = luaL_checkinteger(lua, 1);
      luaL_argcheck(lua, high >= 1, 1, "interval is empty");
      return between(1, static_cast<lua_Number>(high));
    }
    case 2: {
      const lua_Integer low = luaL_checkinteger(lua, 1);
      const lua_Integer high = luaL_checkinteger(lua, 2);
      luaL_argcheck(lua, low <= high, 2, "interval is empty");
      return between(static_cast<lua_Number>(low), static_cast<lua_Number>(high));
    }
    default:
      return luaL_error(lua, "wrong number of arguments");
  }
}

int RandomSeed(lua_State* lua) {
  const auto seed = static_cast<uint32_t>(luaL_checkinteger(lua, 1));
  LuaRandom& random = RandomOf(lua);
  if (!random.is_seeded_by_run) random.bits_to_restore = random.bits;
  random.is_seeded_by_run = true;
  random.bits = BitsOfSeed(seed);
  return 0;
}

int Clock(lua_State* lua) {
  lua_pushnumber(lua, static_cast<lua_Number>(std::clock()) / CLOCKS_PER_SEC);
  return 1;
}

// Suspends the run if it is late.
int Pause(lua_State* lua) { return Interpreter::Of(lua).Pause(lua); }

// load(text, name) of LuaJIT for texts only. A run that is late for a second fails.
int LoadChunk(lua_State* lua) {
  const std::string_view text = TextArgument(lua, 1, "load");
  const char* const name = luaL_checkstring(lua, 2);
  const int status =
      LoadText(lua, text, name, [](lua_State* caller) { Interpreter::Of(caller).IsLate(caller); });
  if (status == 0) return 1;
  lua_pushnil(lua);
  lua_insert(lua, -2);
  return 2;
}

int RaiseError(lua_State* lua) {
  const std::string_view text = TextArgument(lua, 1, "error");
  Fail(lua, std::string(text));
}

// A script can query the memory size, but cannot control when garbage is collected.
int CollectGarbage(lua_State* lua) {
  const std::string_view what = luaL_optstring(lua, 1, "collect");
  const bool counts = what == "count";
  lua_pushnumber(lua, counts ? static_cast<lua_Number>(Interpreter::Of(lua).bytes()) / 1024 : 0);
  return 1;
}

int GcInfo(lua_State* lua) {
  lua_pushnumber(lua, static_cast<lua_Number>(Interpreter::Of(lua).bytes() / 1024));
  return 1;
}

int RefuseChange(lua_State* lua) { Fail(lua, kReadOnly); }

int RefuseMissing(lua_State* lua) {
  const char* const name = lua_tostring(lua, 2);
  Fail(lua, "Script attempted to access nonexistent global variable '" +
                std::string(name == nullptr ? "?" : name) + "'");
}

int IsSuspending(lua_State* lua) {
  lua_pushboolean(lua, Interpreter::Of(lua).is_suspending());
  return 1;
}

int IsMain(lua_State* lua) {
  lua_pushboolean(lua, Interpreter::Of(lua).IsMain(lua));
  return 1;
}

// Upvalue 1 is the metatable of environments.
int IsEnvironment(lua_State* lua) {
  const bool has_metatable = lua_istable(lua, 1) && lua_getmetatable(lua, 1) != 0;
  lua_pushboolean(lua, has_metatable && lua_rawequal(lua, -1, lua_upvalueindex(1)));
  return 1;
}

void Open(lua_State* lua, lua_CFunction library, const char* name) {
  lua_pushcfunction(lua, library);
  lua_pushstring(lua, name);
  lua_call(lua, 1, 0);
}

// Copies fields from the table below the top to the table on top.
void CopyFields(lua_State* lua, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    lua_getfield(lua, -2, name);
    assert(!lua_isnil(lua, -1));
    lua_setfield(lua, -2, name);
  }
}

// Pushes a table with these fields of a library.
void PushFields(lua_State* lua, const char* library, std::initializer_list<const char*> names) {
  lua_getglobal(lua, library);
  lua_newtable(lua);
  CopyFields(lua, names);
  lua_remove(lua, -2);
}

// Replaces the table of fields on top by a library object that has these fields and cannot be
// changed.
void Seal(lua_State* lua) {
  lua_newuserdata(lua, 0);
  lua_createtable(lua, 0, 3);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, RefuseChange);
  lua_setfield(lua, -2, "__newindex");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_setmetatable(lua, -2);
  lua_remove(lua, -2);
}

void SetFunction(lua_State* lua, const char* name, lua_CFunction function) {
  lua_pushcfunction(lua, function);
  lua_setfield(lua, -2, name);
}

// Moves fields from the table at `from` to the table on top.
void Take(lua_State* lua, int from, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    lua_getfield(lua, from, name);
    assert(!lua_isnil(lua, -1));
    lua_setfield(lua, -2, name);
  }
}

// Pushes a table of the functions that the Lua part of the sandbox uses.
void PushRaw(lua_State* lua) {
  lua_newtable(lua);
  const int raw = lua_gettop(lua);
  const auto add = [&](const char* library, std::initializer_list<const char*> names) {
    library == nullptr ? lua_pushvalue(lua, LUA_GLOBALSINDEX) : lua_getglobal(lua, library);
    for (const char* name : names) {
      lua_getfield(lua, -1, name);
      assert(!lua_isnil(lua, -1));
      lua_setfield(lua, raw, name);
    }
    lua_pop(lua, 1);
  };
  add(nullptr, {"type", "error", "select", "tostring", "tonumber", "next", "pairs", "rawget",
                "rawset", "getmetatable", "setmetatable", "unpack", "pcall"});
  add("string", {"sub", "byte", "format"});
  add("table", {"concat", "sort"});
  add("coroutine", {"create", "resume", "yield", "running", "status"});
  PushPatternLibrary(lua);
  for (lua_pushnil(lua); lua_next(lua, -2) != 0;) {
    lua_pushvalue(lua, -2);
    lua_insert(lua, -2);
    lua_rawset(lua, raw);
  }
  lua_pop(lua, 1);
  PushUnfinishedMark(lua);
  lua_setfield(lua, raw, "unfinished");
  SetFunction(lua, "load", LoadChunk);
  SetFunction(lua, "pause", Pause);
  SetFunction(lua, "continue", ContinueCall);
  SetFunction(lua, "fail", RaiseError);
}

// Pushes a table of the Lua part's replacements. `metatable` is the metatable of environments.
// `state` refers to the Lua part's state of a run.
void PushReplaced(lua_State* lua, int metatable, LuaReference state) {
  [[maybe_unused]] const int status =
      luaL_loadbuffer(lua, kSandboxCode.data(), kSandboxCode.size(), kSandboxChunk);
  assert(status == 0);
  PushRaw(lua);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, state);
  lua_pushcfunction(lua, IsSuspending);
  lua_pushcfunction(lua, IsMain);
  lua_pushvalue(lua, metatable);
  lua_pushcclosure(lua, IsEnvironment, 1);
  lua_call(lua, 5, 1);
}

// Puts libraries into the table of globals on top. `replaced` is the index of the table of
// replacements. Returns the settings of cjson, and sets `math_library` to the fields of math.
JsonSettings& AddLibraries(lua_State* lua, int replaced, LuaReference& math_library) {
  PushFields(lua, "string", kString);
  Take(lua, replaced, {"find", "match", "gmatch", "gsub", "format"});
  lua_getfield(lua, -1, "gmatch");
  lua_setfield(lua, -2, "gfind");
  lua_pushvalue(lua, -1);  // strings find their methods in this table, too
  Seal(lua);
  lua_setfield(lua, -3, "string");
  lua_pushliteral(lua, "");
  lua_createtable(lua, 0, 2);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_setmetatable(lua, -2);
  lua_pop(lua, 2);

  PushFields(lua, "table", kTable);
  Take(lua, replaced, {"concat", "sort", "foreach", "foreachi", "setn"});
  SetFunction(lua, "insert", TableInsert);
  Seal(lua);
  lua_setfield(lua, -2, "table");

  PushFields(lua, "math", kMath);
  lua_getfield(lua, -1, "fmod");
  lua_setfield(lua, -2, "mod");
  SetFunction(lua, "random", Random);
  SetFunction(lua, "randomseed", RandomSeed);
  lua_pushvalue(lua, -1);
  math_library = luaL_ref(lua, LUA_REGISTRYINDEX);
  Seal(lua);
  lua_setfield(lua, -2, "math");

  PushFields(lua, "coroutine", {"create", "status"});
  Take(lua, replaced, {"resume", "running", "wrap", "yield"});
  Seal(lua);
  lua_setfield(lua, -2, "coroutine");

  lua_newtable(lua);
  SetFunction(lua, "clock", Clock);
  Seal(lua);
  lua_setfield(lua, -2, "os");

  lua_getglobal(lua, "bit");
  SetFunction(lua, "tohex", BitToHex);
  Seal(lua);
  lua_setfield(lua, -2, "bit");
  JsonSettings& json = PushJsonLibrary(lua);
  Seal(lua);
  lua_setfield(lua, -2, "cjson");
  PushMsgPackLibrary(lua);
  Seal(lua);
  lua_setfield(lua, -2, "cmsgpack");
  PushStructLibrary(lua);
  Seal(lua);
  lua_setfield(lua, -2, "struct");
  return json;
}

}  // namespace

Sandbox::Sandbox(Interpreter& interpreter, uint64_t seed)
    : interpreter_(interpreter), lua_(interpreter.state()) {
  lua_State* const lua = lua_;
  Open(lua, luaopen_base, "");
  Open(lua, luaopen_string, LUA_STRLIBNAME);
  Open(lua, luaopen_table, LUA_TABLIBNAME);
  Open(lua, luaopen_math, LUA_MATHLIBNAME);
  Open(lua, luaopen_bit, LUA_BITLIBNAME);

  lua_pushlightuserdata(lua, &random_key);
  random_ = ::new (lua_newuserdata(lua, sizeof(LuaRandom))) LuaRandom();
  lua_rawset(lua, LUA_REGISTRYINDEX);
  random_->bits = BitsOfSeed(static_cast<uint32_t>(seed));
  PrepareLongCalls(lua);

  lua_newtable(lua);  // the metatable of environments
  const int metatable = lua_gettop(lua);
  lua_newtable(lua);
  state_ = luaL_ref(lua, LUA_REGISTRYINDEX);
  BeginRunOfLuaPart();
  PushReplaced(lua, metatable, state_);
  const int replaced = lua_gettop(lua);
  lua_getfield(lua, replaced, "settling");
  SetCallMaker(lua);

  lua_pushvalue(lua, LUA_GLOBALSINDEX);
  lua_newtable(lua);  // the globals
  CopyFields(lua, kBase);
  lua_remove(lua, -2);
  Take(lua, replaced, {"pairs", "pcall", "xpcall", "rawset", "setmetatable", "load", "loadstring"});
  SetFunction(lua, "collectgarbage", CollectGarbage);
  SetFunction(lua, "gcinfo", GcInfo);
  json_ = &AddLibraries(lua, replaced, math_library_);
  PushRedisApi(lua);
  lua_pushvalue(lua, -1);
  redis_library_ = luaL_ref(lua, LUA_REGISTRYINDEX);
  lua_pushliteral(lua, "KEYS");
  keys_name_ = luaL_ref(lua, LUA_REGISTRYINDEX);
  lua_pushliteral(lua, "ARGV");
  args_name_ = luaL_ref(lua, LUA_REGISTRYINDEX);
  Seal(lua);
  lua_setfield(lua, -2, "redis");
  lua_createtable(lua, 0, 1);
  lua_pushcfunction(lua, RefuseMissing);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);

  lua_rawgeti(lua, LUA_REGISTRYINDEX, state_);
  lua_pushvalue(lua, -2);
  lua_setfield(lua, -2, "globals");
  lua_pop(lua, 1);
  lua_pushvalue(lua, -1);
  globals_ = luaL_ref(lua, LUA_REGISTRYINDEX);
  lua_setfield(lua, metatable, "__index");
  lua_pushvalue(lua, metatable);
  SetFunction(lua, "__newindex", RefuseChange);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  environment_metatable_ = luaL_ref(lua, LUA_REGISTRYINDEX);
  lua_settop(lua, metatable - 1);

  // Scripts cannot reach the globals that LuaJIT's libraries have set.
  lua_newtable(lua);
  lua_replace(lua, LUA_GLOBALSINDEX);
}

void Sandbox::PushEnvironment(lua_State* lua) const {
  lua_createtable(lua, 0, 4);
  lua_pushvalue(lua, -1);
  lua_setfield(lua, -2, "_G");
  lua_rawgeti(lua, LUA_REGISTRYINDEX, environment_metatable_);
  lua_setmetatable(lua, -2);
}

void Sandbox::PushSharedEnvironment(lua_State* lua) {
  if (shared_environment_ != LUA_NOREF) {
    return lua_rawgeti(lua, LUA_REGISTRYINDEX, shared_environment_);
  }
  PushEnvironment(lua);
  lua_pushvalue(lua, -1);
  shared_environment_ = luaL_ref(lua, LUA_REGISTRYINDEX);
}

// The registry keeps the names, so that they are not hashed again for each run.
void Sandbox::SetArguments(lua_State* lua, Args keys, Args args) const {
  lua_rawgeti(lua, LUA_REGISTRYINDEX, globals_);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, keys_name_);
  PushArray(lua, keys);
  lua_rawset(lua, -3);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, args_name_);
  PushArray(lua, args);
  lua_rawset(lua, -3);
  lua_pop(lua, 1);
}

void Sandbox::BeginRun() {
  if (std::exchange(random_->is_seeded_by_run, false)) random_->bits = random_->bits_to_restore;
  Reset(*json_);
  if (failures_ != interpreter_.failures()) BeginRunOfLuaPart();
}

void Sandbox::BeginRunOfLuaPart() {
  failures_ = interpreter_.failures();
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, state_);
  lua_pushinteger(lua_, 0);
  lua_setfield(lua_, -2, "nested");
  lua_pop(lua_, 1);
}

// Makes a library look up its fields in another table.
void Sandbox::SetFields(const char* library, LuaReference fields) {
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, globals_);
  lua_pushstring(lua_, library);
  lua_rawget(lua_, -2);
  lua_getmetatable(lua_, -1);
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, fields);
  lua_setfield(lua_, -2, "__index");
  lua_pop(lua_, 3);
}

void Sandbox::HideFields(const char* library, LuaReference fields,
                         std::initializer_list<const char*> hidden) {
  lua_newtable(lua_);
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, fields);
  for (lua_pushnil(lua_); lua_next(lua_, -2) != 0;) {
    lua_pushvalue(lua_, -2);
    lua_insert(lua_, -2);
    lua_rawset(lua_, -5);
  }
  lua_pop(lua_, 1);
  for (const char* const name : hidden) {
    lua_pushnil(lua_);
    lua_setfield(lua_, -2, name);
  }
  lua_createtable(lua_, 0, 1);
  SetFunction(lua_, "__index", RefuseMissing);
  lua_setmetatable(lua_, -2);
  const LuaReference rest = luaL_ref(lua_, LUA_REGISTRYINDEX);
  SetFields(library, rest);
  luaL_unref(lua_, LUA_REGISTRYINDEX, rest);
}

void Sandbox::BeginLoad() {
  HideFields("redis", redis_library_,
             {"call", "pcall", "setresp", "set_repl", "replicate_commands", "acl_check_cmd",
              "breakpoint", "debug"});
  HideFields("math", math_library_, {"random", "randomseed"});
}

void Sandbox::EndLoad() {
  SetFields("redis", redis_library_);
  SetFields("math", math_library_);
}

void Sandbox::AddRedisFunction(const char* name, lua_CFunction function, void* owner) {
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, redis_library_);
  lua_pushlightuserdata(lua_, owner);
  lua_pushcclosure(lua_, function, 1);
  lua_setfield(lua_, -2, name);
  lua_pop(lua_, 1);
}

}  // namespace zsetd
