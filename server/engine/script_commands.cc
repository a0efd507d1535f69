// Commands that scripts run, and scripts that are suspended.
//
// A script is one unit with the command that called it, and with the transaction around it: the
// consequences of its changes wait for its end. While it is suspended, the engine's time does not
// advance, no key expires or is evicted, and only commands that access no data run (kAllowBusy);
// others receive BUSY. Its client may disconnect in the meantime: a stand-in completes the unit.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/admin_call.h"
#include "server/engine/engine.h"
#include "server/engine/executor.h"
#include "server/engine/script_session.h"
#include "server/engine/services/scripting.h"
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

absl::Status CheckScriptCommand(const Engine& engine, const ScriptSession& session,
                                const Command* command, Args argv) {
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
  const bool writes = command->Has(kWrite) || command->Has(kMayReplicate);
  if (engine.effects().is_muted()) return absl::OkStatus();
  const bool restricts = engine.replication().Restricts();
  if (restricts && !command->Has(kStale) && !engine.replication().CheckStale().ok()) {
    return Refusal("ERR Can not execute the command on a stale replica");
  }
  if (session.read_only && writes) {
    return Refusal("ERR Write commands are not allowed from read-only scripts.");
  }
  // After its first write a script cannot be stopped half way.
  if (command->Has(kWrite) && !session.has_written && engine.disk().ForbidsWrites()) {
    return engine.disk().Error();
  }
  if (command->Has(kWrite) && !session.has_written && restricts) {
    const absl::Status allowed = engine.replication().CheckWrite();
    if (!allowed.ok()) return allowed;
  }
  const bool keeps_limit = !session.may_exceed_memory && !session.has_written;
  if (keeps_limit && session.memory_was_short && command->Has(kDenyOom)) {
    return Refusal(kOutOfMemory);
  }
  return absl::OkStatus();
}

std::string WithoutCode(const std::string& line) { return line.substr(line.find(' ') + 1); }

}  // namespace

absl::Status Executor::RunInScript(ScriptSession& session, Client& caller, Args argv) {
  const bool is_applied = engine_.effects().is_muted();
  const Command* const command = is_applied ? commands_.FindOriginal(argv) : commands_.Find(argv);
  absl::Status status = CheckScriptCommand(engine_, session, command, argv);
  if (status.ok()) {
    if (const auto denial = access_.CheckInScript(caller, *command, argv, store_.now())) {
      status = Refusal("ERR ACL failure in script: " +
                       WithoutCode(DenialLine(*denial, *caller.user(), *command)));
    }
  }
  if (!status.ok()) {
    if (command == nullptr) LogForeignCommand(caller, argv[0]);
    if (command != nullptr) metrics_.CountRejected(*command);
    metrics_.CountError(ErrorLine(status));
    return status;
  }
  if (std::exchange(session.has_computed_long, false)) command_ended_at_ = host_.stopwatch();
  const Micros before = command_ended_at_;
  Client& client = session.client;
  client.output.buffer.Clear();
  client.reply.Begin();
  session.has_written |= command->Has(kWrite);
  store_.access_tracker().set_records(UsesItsKeys(client, *command));
  AdminCall call(engine_, client, *command, argv);
  RunAndPropagate(call);
  if (command->Has(kReadOnly) && caller.tracking().on) {
    notifier_.RememberReads(caller, *command, argv);
  }
  if (reply_holds_.IsOn()) [[unlikely]] {
    reply_holds_.HoldForReads(client, *command, argv);
    caller.read_until = std::max(caller.read_until, client.read_until);
  }
  command_ended_at_ = host_.stopwatch();
  Record(client, *command, argv, command_ended_at_ - before);
  if (call.refused()) metrics_.CountFailed(*command);
  return absl::OkStatus();
}

bool Executor::MayRunInScript(const Client& caller, const Command& command, Args argv) const {
  return caller.user()->MayDoAll() || !caller.user()->Check(command, argv);
}

std::string_view Executor::BusyError() const {
  const std::optional<RunningScript> running = engine_.services().scripting->Running();
  return running && running->is_function
             ? "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN "
               "NOSAVE."
             : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
               "NOSAVE.";
}

// In a transaction, the command within it is kept: EXEC runs again to continue.
void Executor::Suspend(Client& client, const Command& command, Args argv) {
  if (suspended_) return;
  suspended_ = SuspendedCommand{
      .client = &client, .command = &command, .argv = {argv.begin(), argv.end()}, .reply = {}};
}

// The partial reply of the transaction is not sent yet: CLIENT REPLY, or a reply that is too long,
// may still discard it.
void Executor::KeepPartialReply(Client& client, size_t reply_start) {
  suspended_->reply = client.output.buffer.view().substr(reply_start);
  client.output.buffer.Truncate(reply_start);
}

void Executor::ContinueSuspended() {
  Client& client = *suspended_->client;
  const Command& command = *suspended_->command;
  const std::vector<std::string_view> argv(suspended_->argv.begin(), suspended_->argv.end());
  const size_t reply_start = client.output.buffer.size();
  client.executing = true;
  notifier_.set_active(&client);
  client.suspended = false;
  client.output.buffer.Append(suspended_->reply);
  client.reply.Begin();
  const Micros before = command_ended_at_ = host_.stopwatch();
  AdminCall call(engine_, client, command, argv);
  engine_.services().scripting->Continue(call);
  command_ended_at_ = host_.stopwatch();
  suspended_->ran += command_ended_at_ - before;
  if (!client.suspended) {
    const SuspendedCommand done = *std::exchange(suspended_, std::nullopt);
    Record(client, command, argv, done.ran);
    if (call.refused()) metrics_.CountFailed(command);
    ++client.commands_run;
    if (client.transaction.open) ContinueTransaction(client);
  }
  EndAnswer(client, reply_start);
  if (client.suspended) return;
  client.connection.last_active = store_.now();
  client.Wake();
  stand_in_.reset();
}

void Executor::ContinueTransaction(Client& client) {
  constexpr std::string_view kExec[] = {"exec"};
  Run(client, *commands_.FindOriginal("exec"), kExec);
}

// The unit continues without the client that requested it; its reply is discarded.
void Executor::ReplaceSuspendedClient(Client& leaving) {
  stand_in_ = std::make_unique<Client>(leaving.id, leaving.address, leaving.local_address,
                                       store_.now(), [] {});
  stand_in_->database = leaving.database;
  AccessControl::ActAs(*stand_in_, *leaving.user());
  stand_in_->no_touch = leaving.no_touch;
  stand_in_->name = leaving.name;
  stand_in_->reply.set_protocol(leaving.reply.protocol());
  stand_in_->reply.set_most_bytes(clients_.MostReplyBytes());
  stand_in_->output.reply_mode = ClientOutput::ReplyMode::kOff;
  stand_in_->suspended = true;
  stand_in_->transaction = std::move(leaving.transaction);
  leaving.transaction = Transaction();
  suspended_->client = stand_in_.get();
}

}  // namespace zsetd
