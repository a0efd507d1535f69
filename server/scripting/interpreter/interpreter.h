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

// The position of an error.
struct ScriptPosition {
  std::string source;  // "@user_script"
  int line = 0;
};

// One LuaJIT state, with its compiler off, and the run that is in progress in it.
//
// The state's memory is counted. During a run the state cannot grow beyond a limit. If it would,
// the run gets a Lua error, which it may catch. All other work on the state, such as storing
// arguments, is not limited, because a Lua error outside of a run would end the process.
//
// A run is a coroutine. A hook checks the stopwatch periodically and suspends the run when its time
// is up. The coroutine stops between two instructions, however deep in pcalls, and is resumed later
// or never. Two rules make this work for every script:
//
//   - No C code waits for a callback. LuaJIT cannot suspend a coroutine across it, and recursion
//     would exhaust the processor's stack. The Lua part of the sandbox replaces all library
//     functions that call functions of the script.
//   - No instruction is slow. A library function whose work is not bounded by the memory that it
//     reads or writes is a LongCall. Others, and operators such as <, read a string or a table at
//     most once, so the hook checks more often while the state holds large ones.
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

  // Returns the interpreter that owns this state or coroutine.
  static Interpreter& Of(lua_State* lua);

  lua_State* state() const { return state_; }
  size_t bytes() const { return bytes_; }
  Micros Now() const { return stopwatch_(); }
  void set_most_bytes(size_t bytes) { most_bytes_ = bytes; }

  // Whether a run may use that many more bytes.
  bool HasRoomFor(size_t bytes) const { return bytes_ + bytes <= most_bytes_; }

  // Compiles text under the name `chunk_name` and keeps the function. On an error returns nullopt
  // and stores the compiler's message in `error`. Two seconds of compilation are an error, too.
  std::optional<LuaReference> Compile(std::string_view text, const char* chunk_name,
                                      std::string& error);
  void Release(LuaReference reference);

  // The stack on which a run starts. Start() calls the function below the top `count` values, which
  // are its arguments. An environment may be below the function. At the end of the run its results
  // or its error are on this stack.
  lua_State* run_thread();
  Result Start(ScriptRun* run, int argument_count, std::optional<Micros> until);
  Result Resume(std::optional<Micros> until);

  // The stack with the results or the error of the run.
  lua_State* state_of_run() const { return thread_; }

  // Ends a run in any state and drops the values on its stack. Collects garbage for one
  // millisecond; CollectGarbage() collects the rest.
  void EndRun();

  // Whether the last run left garbage that is worth collecting.
  bool HasGarbage() const { return cycles_to_collect_ > 0; }

  // Collects that garbage until this time. No run may be in progress.
  void CollectGarbage(Micros until);

  // For functions that scripts call, in the coroutine `lua`: whether the time of the run is up, so
  // that a LongCall must return. Records that the run has computed for a long time.
  bool IsLate(lua_State* lua);

  // Suspends the run if it is late. `return Pause(lua)` ends a C function.
  int Pause(lua_State* lua);

  // A library function read or wrote that many bytes. After some hundred KB the hook checks
  // immediately.
  void NoteWork(size_t bytes) {
    constexpr size_t kMost = 256u << 10;
    work_ += bytes;
    if (work_ < kMost) return;
    work_ = 0;
    LookAfter(1);
  }

  // A command of the run ended at `now`. If the run is late, makes the hook check immediately.
  void OnCommandEnd(Micros now) {
    if (until_ && now >= *until_) LookAfter(1);
  }

  // The number of runs that did not complete, because of an error or a suspension.
  uint64_t failures() const { return failures_; }

  // The current run; null between runs, and while a library is loaded.
  ScriptRun* run() const { return run_; }

  // The position of a failed or suspended run, in the innermost function of the script; nullopt if
  // unknown.
  std::optional<ScriptPosition> Position() const;

  // Whether the coroutine that a script has just resumed came back because it was suspended.
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
  lua_State* thread_ = nullptr;  // runs use this thread; kept in the registry
  LuaReference thread_reference_ = LUA_NOREF;
  ScriptRun* run_ = nullptr;
  std::optional<Micros> until_;
  uint64_t failures_ = 0;
  bool suspending_ = false;
  bool is_limited_ = false;
  size_t bytes_ = 0;
  size_t largest_block_ = 0;     // an upper bound of the size of each block
  int looks_after_ = 0;          // the instructions between two checks
  size_t work_ = 0;              // the bytes noted since the last check was requested
  size_t adapted_at_bytes_ = 0;  // the size for which the collector's pause was set
  size_t bytes_collected_ = 0;   // the size after the last collection outside of a run
  int cycles_to_collect_ = 0;    // the cycles until no garbage of a run is left
  size_t most_bytes_ = SIZE_MAX;
};

}  // namespace zsetd
