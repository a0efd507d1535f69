#pragma once

#include <cstddef>
#include <lua.hpp>
#include <new>
#include <type_traits>
#include <utility>

namespace zsetd {

// A call of a library function that can be slow, such as cjson.encode of a large table. It works in
// slices, so that the run can be suspended between them.
//
// The function that scripts see is written in Lua. The function `settled` in the sandbox's Lua part
// calls two functions of C++:
//
//   function find(...) return settled(start_find(...)) end
//
//   start_find      makes a LongCall and runs it. Nearly always it is done in its first slice, and
//                   returns its results. If not, it returns a mark and the call as a userdata,
//   pause           which `settled` keeps while the run is suspended,
//   ContinueCall    and passes to this function for the next slice, until there are results.
//
// Between slices a separate thread keeps the values that the call had on the stack.
class LongCall {
 public:
  // Returned in place of the number of results by a call that is not done.
  static constexpr int kUnfinished = -1;

  virtual ~LongCall() = default;

  // Works until the call is done, and returns the number of its results on top of the stack. If the
  // run is late, returns kUnfinished before that. The next slice finds the same values on the
  // stack, but at other indexes, so they must be addressed from the top. Errors are Lua errors.
  //
  // LuaJIT on x86-64 reads the whole register in which a C function returns its number of results,
  // although the upper half is undefined for an int. A std::optional<int> is returned in one
  // register with its flag in the upper half; a compiler may pass that on as the int. Therefore
  // the number is a plain int.
  virtual int Work(lua_State* lua) = 0;
};

// Pushes the mark that precedes an unfinished call.
void PushUnfinishedMark(lua_State* lua);

// Adds the entries of the registry that LongCall needs.
void PrepareLongCalls(lua_State* lua);

// Pops the function of the Lua part that makes `find` from `start_find`, as above.
void SetCallMaker(lua_State* lua);

// Pushes the function that scripts see. `start` returns StartCall(). Pops `upvalues` upvalues.
void PushLongFunction(lua_State* lua, lua_CFunction start, int upvalues);

// Keeps a call as a userdata, and moves all values of the stack to it. Pushes the mark and the
// userdata, and returns 2. `make` constructs the call in `bytes` bytes of memory and returns it.
int KeepCall(lua_State* lua, size_t bytes, LongCall* (*make)(void* memory, void* source),
             void* source);

// Runs a call until it is done or the run is late. Returns the number of results for Lua.
template <class Call>
int StartCall(lua_State* lua, Call&& call) {
  static_assert(std::is_base_of_v<LongCall, Call> && alignof(Call) <= 8);
  if (const int results = call.Work(lua); results != LongCall::kUnfinished) return results;
  const auto make = [](void* memory, void* source) -> LongCall* {
    return ::new (memory) Call(std::move(*static_cast<Call*>(source)));
  };
  return KeepCall(lua, sizeof(Call), make, &call);
}

// Runs the call in argument 1 for another slice.
int ContinueCall(lua_State* lua);

}  // namespace zsetd
