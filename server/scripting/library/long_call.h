#pragma once

#include <cstddef>
#include <lua.hpp>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace zsetd {

// A call of a library function that can be slow, such as cjson.encode of a large table. It does
// its work in slices, so that the run can be suspended in between.
//
// The function that scripts see is written in Lua. `settled` in the sandbox's Lua part knows two
// functions of C++:
//
//   function find(...) return settled(start_find(...)) end
//
//   start_find      makes a LongCall and runs it. Nearly always it is done in its first slice, and
//                   these are its results. If not, it returns a mark and the call as a userdata,
//   pause           which settled() keeps while the run is suspended,
//   ContinueCall    and passes here for the next slice, until there are results.
//
// Between slices the values that the call had on the stack are kept in a thread of their own.
class LongCall {
 public:
  virtual ~LongCall() = default;

  // Works until the call is done, and returns the number of its results on top of the stack; or
  // until the run is late, and returns nullopt. The next slice finds the same values on the stack,
  // but at other indexes, so they are addressed from the top. Errors are Lua errors.
  virtual std::optional<int> Work(lua_State* lua) = 0;
};

// Pushes the mark that precedes a call that is not done.
void PushUnfinishedMark(lua_State* lua);

// Adds what LongCall needs to the registry.
void PrepareLongCalls(lua_State* lua);

// Pops the function of the Lua part that makes start_find, as above, to find.
void SetCallMaker(lua_State* lua);

// Pushes the function that scripts see for one that returns StartCall(). `upvalues` are popped.
void PushLongFunction(lua_State* lua, lua_CFunction start, int upvalues);

// A userdata for a LongCall. Moves all values of the stack to it and pushes the mark and itself.
// Returns 2. `make` constructs the call in memory of `bytes` bytes and returns it.
int KeepCall(lua_State* lua, size_t bytes, LongCall* (*make)(void* memory, void* source),
             void* source);

// Runs a call until it is done or the run is late. Returns the number of results for Lua.
template <class Call>
int StartCall(lua_State* lua, Call&& call) {
  static_assert(std::is_base_of_v<LongCall, Call> && alignof(Call) <= 8);
  if (const std::optional<int> results = call.Work(lua)) return *results;
  const auto make = [](void* memory, void* source) -> LongCall* {
    return ::new (memory) Call(std::move(*static_cast<Call*>(source)));
  };
  return KeepCall(lua, sizeof(Call), make, &call);
}

// Runs the call that is argument 1 for another slice.
int ContinueCall(lua_State* lua);

}  // namespace zsetd
