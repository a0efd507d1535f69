#include "server/scripting/interpreter/interpreter.h"

#include <luajit.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "server/scripting/interpreter/run.h"
#include "server/scripting/interpreter/text_loader.h"

namespace zsetd {
namespace {

constexpr Micros kMostOverdue{1'000'000};
constexpr Micros kMostCompileTime{2'000'000};  // 16 MB of usual code take a quarter of this

// A collection starts when the garbage is as large as the rest of the state, but not before it
// reaches this size. A state without scripts is smaller than this.
constexpr size_t kLeastGarbage = 256u << 10;

// The number of bytes that the instructions between two checks may read if each reads the largest
// string or table: about one second, or some seconds if they copy.
constexpr size_t kBytesPerLook = size_t{4} << 30;
constexpr int kFewestInstructions = 10;

// Garbage of a run is collected if the state is at least twice as large as after the last
// collection, and at least this much larger.
constexpr size_t kGarbageWorthCollecting = 1u << 20;
constexpr Micros kCollectedAfterRun{1'000};

// The bytes that jemalloc takes for an allocation. It has four sizes between two powers of two.
size_t RoundedSize(size_t bytes) {
  constexpr size_t kQuantum = 16;
  if (bytes <= kQuantum / 2) return kQuantum / 2;
  const size_t unit = bytes <= 8 * kQuantum ? kQuantum : std::bit_floor(bytes - 1) / 4;
  return (bytes + unit - 1) / unit * unit;
}

// Whether the frame is not code of a script: C code, or a chunk of the sandbox.
bool IsOwnCode(const lua_Debug& frame) {
  return std::strcmp(frame.what, "C") == 0 || frame.source[0] == '=';
}

int OnPanic(lua_State*) { std::abort(); }

// Reads the position from "user_script:3: ...", the start of LuaJIT's text for an error in Lua
// code.
std::optional<ScriptPosition> PositionInText(std::string_view text) {
  const size_t name_end = text.find(':');
  if (name_end == std::string_view::npos || name_end == 0) return std::nullopt;
  const size_t line_end = text.find(':', name_end + 1);
  if (line_end == std::string_view::npos) return std::nullopt;
  int line = 0;
  for (const char digit : text.substr(name_end + 1, line_end - name_end - 1)) {
    if (digit < '0' || digit > '9' || line > 100'000'000) return std::nullopt;
    line = line * 10 + (digit - '0');
  }
  if (line == 0) return std::nullopt;
  return ScriptPosition{"@" + std::string(text.substr(0, name_end)), line};
}

}  // namespace

Interpreter::Interpreter(std::function<Micros()> stopwatch, size_t& allocated_bytes)
    : stopwatch_(std::move(stopwatch)), allocated_bytes_(allocated_bytes) {
  state_ = lua_newstate(Allocate, this);
  if (state_ == nullptr) throw std::bad_alloc();
  lua_atpanic(state_, OnPanic);
  luaJIT_setmode(state_, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  LookAfter(kInstructionsPerLook);
  RenewThread();
  AdaptCollector();
  bytes_collected_ = bytes_;
}

Interpreter::~Interpreter() { lua_close(state_); }

Interpreter& Interpreter::Of(lua_State* lua) {
  void* self = nullptr;
  lua_getallocf(lua, &self);
  return *static_cast<Interpreter*>(self);
}

void* Interpreter::Allocate(void* self, void* old, size_t old_bytes, size_t new_bytes) {
  Interpreter& interpreter = *static_cast<Interpreter*>(self);
  if (old == nullptr) old_bytes = 0;
  if (new_bytes == 0) {
    std::free(old);
    interpreter.bytes_ -= old_bytes;
    if (old != nullptr) interpreter.allocated_bytes_ -= RoundedSize(old_bytes);
    return nullptr;
  }
  const bool grows = new_bytes > old_bytes;
  if (grows && interpreter.is_limited_ &&
      interpreter.bytes_ + (new_bytes - old_bytes) > interpreter.most_bytes_) {
    return nullptr;
  }
  void* const block = old == nullptr ? std::malloc(new_bytes) : std::realloc(old, new_bytes);
  if (block == nullptr) return nullptr;
  interpreter.bytes_ += new_bytes - old_bytes;
  interpreter.allocated_bytes_ += RoundedSize(new_bytes);
  if (old != nullptr) interpreter.allocated_bytes_ -= RoundedSize(old_bytes);
  if (new_bytes > interpreter.largest_block_) {
    interpreter.largest_block_ = new_bytes;
    interpreter.AdaptLooks();
  }
  return block;
}

void Interpreter::LookAfter(int instructions) {
  looks_after_ = instructions;
  lua_sethook(state_, OnCount, LUA_MASKCOUNT, instructions);
}

// Checks more often if there is a large string or table, because an instruction can take longer
// then.
void Interpreter::AdaptLooks() {
  if (state_ == nullptr) return;
  const auto count =
      static_cast<int>(std::clamp<size_t>(kBytesPerLook / std::max<size_t>(largest_block_, 1),
                                          kFewestInstructions, kInstructionsPerLook));
  if (count != looks_after_) LookAfter(count);
}

bool Interpreter::IsLate(lua_State* lua) {
  if (run_ != nullptr) run_->OnLongComputation();
  if (!until_) return false;
  const Micros now = stopwatch_();
  if (now < *until_) return false;
  if (lua_isyieldable(lua)) return true;
  if (now - *until_ > kMostOverdue) {
    luaL_error(lua, "script took too long where it cannot be suspended");
  }
  return false;
}

int Interpreter::Pause(lua_State* lua) {
  if (!IsLate(lua)) return 0;
  suspending_ = true;
  return lua_yield(lua, 0);
}

// While a suspension passes from a coroutine through its callers to the script, those coroutines
// run some instructions. They must not be suspended again during that.
void Interpreter::OnCount(lua_State* lua, lua_Debug*) {
  Interpreter& self = Of(lua);
  if (self.suspending_) return;
  self.AdaptLooks();
  self.Pause(lua);
}

std::optional<LuaReference> Interpreter::Compile(std::string_view text, const char* chunk_name,
                                                 std::string& error) {
  const Micros until = stopwatch_() + kMostCompileTime;
  const int status = LoadText(state_, text, chunk_name, [&](lua_State* lua) {
    if (stopwatch_() > until) luaL_error(lua, "the text takes too long to compile");
  });
  if (status != 0) {
    const char* const said = lua_tostring(state_, -1);
    error = said == nullptr ? "unknown error" : said;
    lua_pop(state_, 1);
    return std::nullopt;
  }
  return luaL_ref(state_, LUA_REGISTRYINDEX);
}

void Interpreter::Release(LuaReference reference) {
  luaL_unref(state_, LUA_REGISTRYINDEX, reference);
}

// Replaces the thread of runs, because a thread that has failed cannot be used again.
void Interpreter::RenewThread() {
  luaL_unref(state_, LUA_REGISTRYINDEX, thread_reference_);
  thread_ = lua_newthread(state_);
  thread_reference_ = luaL_ref(state_, LUA_REGISTRYINDEX);
}

lua_State* Interpreter::run_thread() {
  assert(run_ == nullptr);
  return thread_;
}

Interpreter::Result Interpreter::Start(ScriptRun* run, int argument_count,
                                       std::optional<Micros> until) {
  run_ = run;
  return Run(argument_count, until);
}

Interpreter::Result Interpreter::Resume(std::optional<Micros> until) { return Run(0, until); }

Interpreter::Result Interpreter::Run(int argument_count, std::optional<Micros> until) {
  until_ = until;
  suspending_ = false;
  is_limited_ = true;
  const int status = lua_resume(thread_, argument_count);
  is_limited_ = false;
  if (status == LUA_YIELD) return suspending_ ? Result::kSuspended : Result::kFailed;
  return status == 0 ? Result::kDone : Result::kFailed;
}

void Interpreter::EndRun() {
  run_ = nullptr;
  until_.reset();
  if (lua_status(thread_) == 0) {
    lua_settop(thread_, 0);
  } else {
    ++failures_;
    RenewThread();
  }
  PlanCollection();
  if (cycles_to_collect_ > 0) CollectGarbage(stopwatch_() + kCollectedAfterRun);
  if (bytes_ / 2 > adapted_at_bytes_ || bytes_ < adapted_at_bytes_ / 2) AdaptCollector();
}

// Plans two cycles: a cycle that began during the run does not collect the garbage that was made
// after its start.
void Interpreter::PlanCollection() {
  constexpr int kCycles = 2;
  if (bytes_ / 2 < bytes_collected_ || bytes_ - bytes_collected_ < kGarbageWorthCollecting) return;
  cycles_to_collect_ = kCycles;
}

void Interpreter::CollectGarbage(Micros until) {
  assert(run_ == nullptr);
  constexpr int kStepsPerLook = 16;
  for (int step = 1; cycles_to_collect_ > 0; ++step) {
    if (lua_gc(state_, LUA_GCSTEP, 0) != 0) --cycles_to_collect_;
    if (step % kStepsPerLook == 0 && stopwatch_() >= until) break;
  }
  if (cycles_to_collect_ > 0) return;
  bytes_collected_ = bytes_;
  AdaptCollector();
  largest_block_ = std::min(largest_block_, bytes_);
  AdaptLooks();
}

// Sets the pause of the garbage collector for the current size. Must be called when the state has
// become much larger or smaller.
void Interpreter::AdaptCollector() {
  constexpr size_t kPercent = 100;
  adapted_at_bytes_ = bytes_;
  const size_t garbage = std::max(bytes_, kLeastGarbage);
  lua_gc(state_, LUA_GCSETPAUSE, static_cast<int>(kPercent + garbage * kPercent / bytes_));
}

std::optional<ScriptPosition> Interpreter::Position() const {
  constexpr int kMostFrames = 20;
  lua_Debug frame;
  for (int level = 0; level < kMostFrames && lua_getstack(thread_, level, &frame) != 0; ++level) {
    lua_getinfo(thread_, "Sl", &frame);
    if (IsOwnCode(frame)) continue;
    if (frame.currentline > 0) return ScriptPosition{frame.source, frame.currentline};
    break;  // the error is in the script itself: LuaJIT has dropped the line
  }
  if (lua_gettop(thread_) == 0 || lua_type(thread_, -1) != LUA_TSTRING) return std::nullopt;
  size_t size = 0;
  const char* const text = lua_tolstring(thread_, -1, &size);
  return PositionInText({text, size});
}

}  // namespace zsetd
