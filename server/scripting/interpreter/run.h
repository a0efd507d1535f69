#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/engine.h"
#include "server/engine/script_session.h"
#include "server/scripting/interpreter/script_flags.h"

namespace zsetd {

class Call;

// State that each run uses and leaves to the next run.
struct ScriptWorkspace {
  ScriptSession session;
  std::vector<std::string_view> argv;  // the arguments of redis.call
  std::vector<char> number_text;       // the text of arguments that are numbers
};

// One run of a script or function: its caller, and the state that its commands share.
class ScriptRun {
 public:
  struct Target {
    std::string name;  // the SHA-1 of a script, or the name of a function
    bool is_function = false;
    ScriptFlags flags;
    bool read_only = false;  // set by the command that called it
  };

  // The workspace outlives this object, and no other run uses it at the same time.
  ScriptRun(Engine& engine, Call& call, Target target, ScriptWorkspace& workspace);

  ~ScriptRun() { session().End(); }
  ScriptRun(const ScriptRun&) = delete;

  Engine& engine() { return engine_; }
  Caller& caller() { return *caller_; }
  ScriptSession& session() { return workspace_.session; }
  const Target& target() const { return target_; }
  bool replies_resp3() const {
    return workspace_.session.caller.reply.protocol() == Protocol::kResp3;
  }

  // Runs a command. A refusal contains the whole error line. Otherwise the reply is in
  // `session().caller.replies` until the next command.
  absl::Status Execute(Args argv) {
    return engine_.script_command_runner().Run(session(), *caller_, argv);
  }

  // The script has computed for a long time since its last command, so the next command did not
  // start when that one ended.
  void OnLongComputation() { session().has_computed_long = true; }

  // The run is suspended, or continues for this call.
  void OnSuspended(const Call& call);
  void OnContinued(Call& call);

  // The command that started the run. Set when the run is suspended.
  const std::vector<std::string>& command() const { return command_; }
  Micros started_at() const { return started_at_; }
  Micros elapsed() const { return engine_.host().stopwatch() - started_at_; }

  void Kill() { is_killed_ = true; }
  bool is_killed() const { return is_killed_; }

  // Room for the arguments of redis.call.
  std::vector<std::string_view>& argv() { return workspace_.argv; }
  std::vector<char>& number_text() { return workspace_.number_text; }

 private:
  Engine& engine_;
  Caller* caller_;
  Target target_;
  ScriptWorkspace& workspace_;
  std::vector<std::string> command_;
  Micros started_at_;
  bool is_killed_ = false;
};

}  // namespace zsetd
