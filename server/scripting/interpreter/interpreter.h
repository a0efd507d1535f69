#pragma once

#include <cstddef>
#include <functional>
#include <lua.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/util/time.h"

namespace zsetd {

class ScriptRun;

// A reference to a Lua value that keeps it alive, as luaL_ref returns it.
using LuaReference = int;

// Where an error arose.
struct ScriptPosition {
  std::string source;  // "@user_script"
  int line = 0;
};

// One LuaJIT state, its compiler off, and the run that is under way in it.
//
// The state's memory is counted. While a run is under way the state cannot grow beyond a limit:
// then the run has a Lua error, which it may catch. All other work on the state, such as putting
// arguments there, is not limited, because a Lua error outside of a run would end the process.
//
// A run is a coroutine. A hook looks at the stopwatch periodically and suspends the run when its
// time is up: the coroutine is left between two instructions, however deep in pcalls, and is
// resumed later, or never. Two rules make this work for every script:
//
//   - No C code waits for a callback. LuaJIT cannot suspend a coroutine across it, and recursion
//     would exhaust the processor's stack. The Lua part of the sandbox replaces all library
//     functions that call what a script passes to them.
//   - No instruction is slow. A library function whose work is not bounded by the memory that it
//     reads or writes is a LongCall. Others, and operators such as <, read a string or a table at
//     most once, so the hook looks more often while the state holds large ones.
//
// Lua errors unwind C++ frames and run destructors, as LuaJIT does on x86-64 and arm64.
class Interpreter {
 public:
  static constexpr int kInstructionsPerLook = 10'000;  // at most

  enum class Result { kDone, kFailed, kSuspended };

  // Adds the bytes that the state allocates to `allocated_bytes`, and subtracts those that it
  // frees. The counter outlives the interpreter.
  Interpreter(std::function<Micros()> stopwatch, size_t& allocated_bytes);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;

  // The interpreter whose state this is, or a coroutine of it.
  static Interpreter& Of(lua_State* lua);

  lua_State* state() const { return state_; }
  size_t bytes() const { return bytes_; }
  void set_most_bytes(size_t bytes) { most_bytes_ = bytes; }

  // Whether a run may use that many bytes more.
  bool HasRoomFor(size_t bytes) const { return bytes_ + bytes <= most_bytes_; }

  // Compiles text, as `chunk_name`, and keeps the function. On an error returns no function, and
  // `error` is the compiler's message.
  std::optional<LuaReference> Compile(std::string_view text, const char* chunk_name,
                                      std::string& error);
  void Release(LuaReference reference);

  // Starts a call of the function on top of the stack of `run_thread()`, with `count` arguments
  // above it. `environment`, if any, stays where the caller put it. At the end, results or the
  // error are on that stack.
  lua_State* run_thread();
  Result Start(ScriptRun* run, int argument_count, std::optional<Micros> until);
  Result Resume(std::optional<Micros> until);

  // The stack with the results or the error of the run.
  lua_State* state_of_run() const { return thread_; }

  // Ends a run in any state, and drops the values on its stack. Collects garbage for a millisecond;
  // CollectGarbage() collects the rest.
  void EndRun();

  // Whether the last run left garbage that is worth collecting.
  bool HasGarbage() const { return cycles_to_collect_ > 0; }

  // Collects that garbage until the time. No run may be in progress.
  void CollectGarbage(Micros until);

  // For functions that scripts call, in the coroutine `lua`: whether the time of the run is up, so
  // that a LongCall has to return. Notes that the run has computed for long.
  bool IsLate(lua_State* lua);

  // Suspends the run if it is late. `return Pause(lua)` ends a C function.
  int Pause(lua_State* lua);

  // A library function read or wrote that many bytes. After some hundred KB the hook looks
  // immediately.
  void NoteWork(size_t bytes) {
    constexpr size_t kMost = 256u << 10;
    work_ += bytes;
    if (work_ < kMost) return;
    work_ = 0;
    LookAfter(1);
  }

  // A command that the run called ended at `now`. If the run is late, has the hook look
  // immediately.
  void OnCommandEnd(Micros now) {
    if (until_ && now >= *until_) LookAfter(1);
  }

  // How many runs have not come to their end: an error or a suspension was their last.
  uint64_t failures() const { return failures_; }

  // The present run; null without one, as while a library is loaded.
  ScriptRun* run() const { return run_; }

  // The position of a failed or suspended run in the innermost function of a script; nullopt if
  // unknown.
  std::optional<ScriptPosition> Position() const;

  // Whether the coroutine that has just been resumed within a script came back as it was suspended.
  bool is_suspending() const { return suspending_; }
  bool IsMain(lua_State* lua) const { return lua == thread_; }

 private:
  static void* Allocate(void* self, void* old, size_t old_bytes, size_t new_bytes);
  static void OnCount(lua_State* lua, lua_Debug* activation);
  Result Run(int argument_count, std::optional<Micros> until);
  void RenewThread();
  void AdaptCollector();
  void LookAfter(int instructions);
  void AdaptLooks();
  void PlanCollection();

  std::function<Micros()> stopwatch_;
  size_t& allocated_bytes_;
  lua_State* state_ = nullptr;
  lua_State* thread_ = nullptr;  // where runs are; kept in the registry
  LuaReference thread_reference_ = LUA_NOREF;
  ScriptRun* run_ = nullptr;
  std::optional<Micros> until_;
  uint64_t failures_ = 0;
  bool suspending_ = false;
  bool is_limited_ = false;
  size_t bytes_ = 0;
  size_t largest_block_ = 0;     // of those allocated since it was reset; at least the largest
  int looks_after_ = 0;          // instructions between two looks
  size_t work_ = 0;              // as noted since the hook was asked to look
  size_t adapted_at_bytes_ = 0;  // what the garbage collector's pause was chosen for
  size_t bytes_collected_ = 0;   // the state's size after the last collection outside of a run
  int cycles_to_collect_ = 0;    // of the garbage collector, until no garbage of a run is left
  size_t most_bytes_ = SIZE_MAX;
};

}  // namespace zsetd
