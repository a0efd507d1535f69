#include "server/scripting/library/long_call.h"

#include <cassert>

#include "server/scripting/library/library_errors.h"

namespace zsetd {
namespace {

// The addresses serve as the mark, and as keys of the registry.
char unfinished_mark;
char metatable_key;
char maker_key;

// The beginning of the userdata; the LongCall follows it.
struct KeptCall {
  LongCall* call;
};

void End(KeptCall& kept) {
  if (LongCall* const call = std::exchange(kept.call, nullptr)) call->~LongCall();
}

int Destroy(lua_State* lua) {
  End(*static_cast<KeptCall*>(lua_touserdata(lua, 1)));
  return 0;
}

// Ends a call at the end of the scope.
class Ending {
 public:
  explicit Ending(KeptCall& kept) : kept_(&kept) {}
  ~Ending() {
    if (kept_ != nullptr) End(*kept_);
  }
  Ending(const Ending&) = delete;
  void Cancel() { kept_ = nullptr; }

 private:
  KeptCall* kept_;
};

// Moves `count` values from the top of one stack to another.
void MoveValues(lua_State* from, lua_State* to, int count) {
  CheckStack(from, 2, "a call has too many values");
  if (lua_checkstack(to, count + 2) == 0) Fail(from, "stack overflow");
  lua_xmove(from, to, count);
}

// Returns the thread that keeps the values of the call at index 1.
lua_State* ThreadOf(lua_State* lua) {
  lua_getfenv(lua, 1);
  lua_rawgeti(lua, -1, 1);
  lua_State* const thread = lua_tothread(lua, -1);
  lua_pop(lua, 2);
  return thread;
}

}  // namespace

void PushUnfinishedMark(lua_State* lua) { lua_pushlightuserdata(lua, &unfinished_mark); }

void PrepareLongCalls(lua_State* lua) {
  lua_pushlightuserdata(lua, &metatable_key);
  lua_createtable(lua, 0, 1);
  lua_pushcfunction(lua, Destroy);
  lua_setfield(lua, -2, "__gc");
  lua_rawset(lua, LUA_REGISTRYINDEX);
}

void SetCallMaker(lua_State* lua) {
  lua_pushlightuserdata(lua, &maker_key);
  lua_insert(lua, -2);
  lua_rawset(lua, LUA_REGISTRYINDEX);
}

void PushLongFunction(lua_State* lua, lua_CFunction start, int upvalues) {
  lua_pushcclosure(lua, start, upvalues);
  lua_pushlightuserdata(lua, &maker_key);
  lua_rawget(lua, LUA_REGISTRYINDEX);
  lua_insert(lua, -2);
  lua_call(lua, 1, 1);
}

int KeepCall(lua_State* lua, size_t bytes, LongCall* (*make)(void* memory, void* source),
             void* source) {
  const int count = lua_gettop(lua);
  CheckStack(lua, 4, "a call has too many values");
  lua_createtable(lua, 1, 0);
  lua_State* const thread = lua_newthread(lua);
  lua_rawseti(lua, -2, 1);
  auto* const kept = static_cast<KeptCall*>(lua_newuserdata(lua, sizeof(KeptCall) + bytes));
  kept->call = make(kept + 1, source);
  lua_pushlightuserdata(lua, &metatable_key);
  lua_rawget(lua, LUA_REGISTRYINDEX);
  lua_setmetatable(lua, -2);
  lua_insert(lua, 1);
  lua_setfenv(lua, 1);
  MoveValues(lua, thread, count);
  PushUnfinishedMark(lua);
  lua_insert(lua, 1);
  return 2;
}

int ContinueCall(lua_State* lua) {
  auto& kept = *static_cast<KeptCall*>(lua_touserdata(lua, 1));
  assert(kept.call != nullptr);
  lua_State* const thread = ThreadOf(lua);
  CheckStack(lua, lua_gettop(thread) + 2, "a call has too many values");
  lua_xmove(thread, lua, lua_gettop(thread));
  Ending ending(kept);  // also if Work() raises an error, so that its memory is free immediately
  if (const int results = kept.call->Work(lua); results != LongCall::kUnfinished) return results;
  ending.Cancel();
  MoveValues(lua, thread, lua_gettop(lua) - 1);
  PushUnfinishedMark(lua);
  lua_insert(lua, 1);
  return 2;
}

}  // namespace zsetd
