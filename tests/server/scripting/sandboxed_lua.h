#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "core/util/time.h"
#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/sandbox.h"

namespace zsetd {

// An interpreter with the sandbox of scripts, and a stopwatch that the test moves. It runs scripts
// one at a time, each in slices. It measures the processor time between two readings of the
// stopwatch.
//
// Scripts have three more functions. redis.probe() records whether the run could be suspended at
// the call. redis.fields(library) returns a table of the library's fields. A hurried run is hurried
// only from a call of redis.hurry() on, if it contains one.
class SandboxedLua {
 public:
  struct Outcome {
    bool ended = false;   // before `most_slices`
    bool failed = false;  // with the error `text`
    int slices = 0;
    std::string text;  // the result, or the error, as text
  };

  explicit SandboxedLua(uint64_t seed) : sandbox_(interpreter_, seed) {
    interpreter_.set_most_bytes(32u << 20);
    sandbox_.AddRedisFunction("probe", Probe, this);
    sandbox_.AddRedisFunction("fields", Fields, this);
    sandbox_.AddRedisFunction("hurry", Hurry, this);
  }

  // Runs the code as a script. If `hurried`, each reading of the stopwatch ends a slice; otherwise
  // none does.
  Outcome Run(std::string_view code, bool hurried, int most_slices = 1'000'000'000);

  Interpreter& interpreter() { return interpreter_; }
  Sandbox& sandbox() { return sandbox_; }
  int probes() const { return probes_; }
  int failed_probes() const { return failed_probes_; }
  double longest_gap() const { return longest_gap_; }  // in seconds, since ResetGap()
  void ResetGap() { longest_gap_ = 0; }
  size_t allocated() const { return allocated_; }

 private:
  static constexpr double kNotRunning = -1;  // compiles, for example

  static double ProcessorTime() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
  static int Probe(lua_State* lua);
  static int Fields(lua_State* lua);
  static int Hurry(lua_State* lua);
  Micros Look();
  void NoteGap();

  size_t allocated_ = 0;
  bool is_late_ = false;
  double looked_at_ = kNotRunning;
  double longest_gap_ = 0;
  int probes_ = 0;
  int failed_probes_ = 0;
  Interpreter interpreter_{[this] { return Look(); }, allocated_};
  Sandbox sandbox_;
};

}  // namespace zsetd
