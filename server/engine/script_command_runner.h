#pragma once

#include "absl/status/status.h"
#include "protocol/resp/args.h"

namespace zsetd {

class Caller;
class Engine;
struct Command;
struct ScriptSession;

// Runs the commands of scripts. A script is one unit with the command that called it, and with the
// transaction around it: the consequences of its changes wait for its end.
class ScriptCommandRunner {
 public:
  // The engine outlives it.
  explicit ScriptCommandRunner(Engine& engine) : engine_(engine) {}
  ScriptCommandRunner(const ScriptCommandRunner&) = delete;

  // Runs a command of a script that `caller` has called: the reply is in session.caller.replies. A
  // refusal is the whole error line; the command has not run then,
  // and the error is counted.
  absl::Status Run(ScriptSession& session, Caller& caller, Args argv);

  // Whether the caller's user may run this in a script. The request fits the row's arity.
  static bool MayRun(const Caller& caller, const Command& command, Args argv);

 private:
  absl::Status Check(const ScriptSession& session, Caller& caller, const Command* command,
                     Args argv) const;
  absl::Status CheckCommand(const ScriptSession& session, const Command* command, Args argv) const;
  absl::Status CheckState(const ScriptSession& session, const Command& command) const;

  Engine& engine_;
};

}  // namespace zsetd
