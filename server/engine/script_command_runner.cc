#include "server/engine/script_command_runner.h"

#include <string>
#include <utility>

#include "server/engine/command_run.h"
#include "server/engine/engine.h"
#include "server/engine/script_session.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

// In Redis's words, and the name: a program often shows nothing but the error.
absl::Status UnknownInScript(Args argv, bool is_subcommand) {
  constexpr size_t kMostNameBytes = 128;  // as of a direct request
  std::string name(argv[0]);
  if (is_subcommand) name.append("|").append(argv[1]);
  return Refusal("ERR Unknown Redis command called from script: " + Quoted(name, kMostNameBytes));
}

std::string WithoutCode(const std::string& line) { return line.substr(line.find(' ') + 1); }

}  // namespace

absl::Status ScriptCommandRunner::CheckCommand(const ScriptSession& session, const Command* command,
                                               Args argv) const {
  if (command == nullptr || (command->run == nullptr && argv.size() > 1)) {
    return UnknownInScript(argv, command != nullptr);
  }
  if (command->run == nullptr || !command->AcceptsCount(argv.size())) {
    return Refusal("ERR Wrong number of args calling Redis command from script");
  }
  // Blocking commands reply immediately, as in a transaction.
  if (command->Has(kNoScript) && !command->Has(kBlocking)) {
    return Refusal("ERR This Redis command is not allowed from script");
  }
  return engine_.effects().is_muted() ? absl::OkStatus() : CheckState(session, *command);
}

absl::Status ScriptCommandRunner::CheckState(const ScriptSession& session,
                                             const Command& command) const {
  const ReplicationState& replication = engine_.replication();
  const bool restricts = replication.Restricts();
  if (restricts && !command.Has(kStale) && !replication.CheckStale().ok()) {
    return Refusal("ERR Can not execute the command on a stale replica");
  }
  if (session.read_only && (command.Has(kWrite) || command.Has(kMayReplicate))) {
    return Refusal("ERR Write commands are not allowed from read-only scripts.");
  }
  // After its first write a script cannot be stopped half way.
  if (command.Has(kWrite) && !session.has_written && engine_.disk().ForbidsWrites()) {
    return engine_.disk().Error();
  }
  if (command.Has(kWrite) && !session.has_written && restricts) {
    const absl::Status allowed = replication.CheckWrite();
    if (!allowed.ok()) return allowed;
  }
  const bool keeps_limit = !session.may_exceed_memory && !session.has_written;
  if (keeps_limit && session.memory_was_short && command.Has(kDenyOom)) {
    return Refusal(kOutOfMemory);
  }
  return absl::OkStatus();
}

absl::Status ScriptCommandRunner::Check(const ScriptSession& session, Caller& caller,
                                        const Command* command, Args argv) const {
  absl::Status status = CheckCommand(session, command, argv);
  if (!status.ok()) return status;
  const auto denial = engine_.access().CheckInScript(caller, *command, argv, engine_.store().now());
  if (!denial) {
    if (!engine_.routing().IsOn() || engine_.effects().is_muted()) return absl::OkStatus();
    return engine_.routing().CheckInScript(caller, session.may_use_several_slots, *command, argv);
  }
  return Refusal("ERR ACL failure in script: " +
                 WithoutCode(DenialLine(*denial, *caller.user(), *command)));
}

absl::Status ScriptCommandRunner::Run(ScriptSession& session, Caller& caller, Args argv) {
  const CommandTable& commands = engine_.commands();
  const bool is_applied = engine_.effects().is_muted();
  const Command* const command = is_applied ? commands.FindOriginal(argv) : commands.Find(argv);
  const absl::Status status = Check(session, caller, command, argv);
  if (!status.ok()) {
    if (command == nullptr) engine_.foreign_command_log().Note(caller, argv[0]);
    if (command != nullptr) engine_.metrics().CountRejected(*command);
    engine_.metrics().CountError(ErrorLine(status));
    return status;
  }
  if (std::exchange(session.has_computed_long, false)) engine_.clock().Restart();
  session.caller.replies.Clear();
  session.caller.reply.Begin();
  session.has_written |= command->Has(kWrite);
  CommandRun run(engine_, CommandRun::Origin::kScript, {session.caller, *command, argv});
  run.set_reader(caller);
  run.Run();
  return absl::OkStatus();
}

bool ScriptCommandRunner::MayRun(const Caller& caller, const Command& command, Args argv) {
  return caller.user()->MayDoAll() || !caller.user()->Check(command, argv);
}

}  // namespace zsetd
