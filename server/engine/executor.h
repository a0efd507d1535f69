#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/client/client.h"
#include "server/engine/key_prefetcher.h"
#include "server/engine/notify/overdue_requests.h"

namespace zsetd {

enum CommandFlag : uint32_t;
class AccessControl;
class AdminCall;
class Call;
class Clients;
class CommandTable;
class Effects;
class Engine;
class Metrics;
class Notifier;
class ReplyHolds;
class Store;
struct Command;
struct Host;
struct ScriptSession;
struct Settings;

// Runs the commands of the clients, one at a time.
//
//   request ──► checks ──► the command ──► consequences of its changes ──► reply
//
// A request may also be queued (MULTI), postponed (CLIENT PAUSE, OverdueRequests), blocked until a
// key changes, or suspended in the middle, as a slow script. While one is suspended, time does not
// advance, no key expires or is evicted, and no other command that accesses data runs.
class Executor {
 public:
  // The engine, whose parts it connects, outlives it.
  explicit Executor(Engine& engine);
  Executor(const Executor&) = delete;

  // Must be called before a batch of requests. Advances the time, serves the blocked clients that
  // waited for it, and restarts the stopwatch. Each command is timed from the end of the previous
  // one, so that one reading of the stopwatch is enough.
  void BeginBatch(Millis now);

  // Advances the time, between commands. If the clock is set back the time goes back: deadlines are
  // instants of that clock.
  void AdvanceTo(Millis now);

  // Announces requests of the client that will be run, so that what they read can be prefetched,
  // together with that of other clients' requests, before the first of them runs.
  void Prefetch(const Client& client, std::span<const Args> requests);
  void FetchPrefetched() { key_prefetcher_.Fetch(); }

  // Runs, postpones or rejects a request: the reply is in client.output.buffer when this returns,
  // or begins there and continues in client.output.long_reply.
  void Execute(Client& client, Args argv);

  // Writes the next piece of the client's long reply, some kilobytes.
  void ContinueReply(Client& client);

  // Runs a queued request as part of the client's transaction. It was checked when it was queued,
  // but the user's permissions may have changed.
  void RunQueued(Client& client, const QueuedCommand& queued);

  // Runs a command of a script that `caller` has called: the reply is in
  // session.client.output.buffer. A refusal is the whole error line; the command has not run then,
  // and the error is counted.
  absl::Status RunInScript(ScriptSession& session, Client& caller, Args argv);

  // Whether the caller's user may run this in a script. The request fits the row's arity.
  bool MayRunInScript(const Client& caller, const Command& command, Args argv) const;

  // The error for other requests while a script is suspended.
  std::string_view BusyError() const;

  // Whether a script is suspended.
  bool IsSuspended() const { return suspended_.has_value(); }

  // Whether a transaction runs, or a script is suspended: the running command is a part of a unit.
  bool IsInTransaction() const;

  // Makes a change of the journals, or of files that show the data, which must not divide a unit:
  // now, or within a transaction when that has ended and its unit was appended. It is not made if
  // the server ends before.
  void AfterUnit(std::function<void()> change);

  // Unblocks a client without serving it: with a null reply, as after a timeout, or with an error.
  void UnblockWithTimeout(Client& client);
  void UnblockWithError(Client& client, std::string_view error);

  // Replies with an error to a client whose `command` has waited outside of BlockedClients.
  void EndWithError(Client& client, const Command& command, std::string_view error);

  // Ends waits that have timed out. At most `hz` times a second, wakes stalled clients and those
  // with a large unused buffer, and closes idle ones. Closes clients that take too much memory,
  // evicts keys if memory is short, and frees due keys and elements until none is left or `budget`
  // is spent.
  void Tick(Micros budget);

  // The earliest deadline of a key (past if it is not deleted yet), a blocked client or a pause;
  // nullopt without deadlines. O(databases).
  std::optional<Millis> NextDeadline() const;

  // When the command that is running began, by the stopwatch.
  Micros command_began_at() const { return command_ended_at_; }

  // When the last command of a script ended, by the stopwatch.
  Micros command_ended_at() const { return command_ended_at_; }

  // Must be called after a round of requests, before its replies are sent.
  void EndRound();

  // Must be called after propagated requests were applied (applier.h). Serves the blocked clients
  // whose keys are ready, and sends the messages about the changes.
  void OnApplied();

  // The number of requests that wait for the removal of due elements in their keys.
  size_t overdue_requests() const { return overdue_.size(); }

  // A client leaves: if its script is suspended, the script goes on without it.
  void OnLeave(Client& client);

 private:
  // A command that is a suspended script, perhaps within a transaction.
  struct SuspendedCommand {
    Client* client;
    const Command* command;
    std::vector<std::string> argv;
    std::string reply;  // of the transaction until then
    Micros ran{0};      // since it was suspended first
  };

  // A client that waits for acknowledgements.
  struct AcknowledgementWait {
    uint64_t client;  // by id
    uint64_t number;  // BlockedCommand::number
  };

  void Answer(Client& client, Args argv);
  void RunAndPropagate(AdminCall& call);
  void EndUnit(Client& client);
  void MakeChangesAfterUnit();
  void EndAnswer(Client& client, size_t reply_start);
  static bool UsesItsKeys(const Client& client, const Command& command);
  void Suspend(Client& client, const Command& command, Args argv);
  void KeepPartialReply(Client& client, size_t reply_start);
  void ContinueSuspended();
  void ContinueTransaction(Client& client);
  void ReplaceSuspendedClient(Client& leaving);
  void Dispatch(Client& client, Args argv);
  uint32_t FlagsOf(const Command& command, Args argv) const;
  bool HasFlag(const Command& command, Args argv, CommandFlag flag) const;
  bool Involves(const Client& client, const Command& command, Args argv, CommandFlag flag) const;
  bool Lacks(const Client& client, const Command& command, Args argv, CommandFlag flag) const;
  absl::Status CheckRole(const Client& client, const Command& command, Args argv) const;
  absl::Status Admit(Client& client, const Command* command, Args argv);
  void LogForeignCommand(const Client& client, std::string_view name);
  void Reject(Client& client, const Command* command, const absl::Status& why);
  void Enqueue(Client& client, const Command& command, Args argv);
  void Run(Client& client, const Command& command, Args argv);
  bool LacksMemoryFor(const Client& client, const Command& command, Args argv);
  void MakeRoom();
  void Record(Client& client, const Command& command, Args argv, Micros took);
  void CountWait(const Client& client);
  void EndException(Client& client, Args argv);
  void Finish(Client& client, size_t reply_start);
  void LeaveOutUnwanted(Client& client, size_t reply_start);
  static void DeliverPushes(Client& client);
  void DeferUntilDue(Client& client);
  void ServeWaiters();
  void ServeDueClients(Micros budget);
  void Block(Client& client, Call& call);
  void RunAgain(Client& client, std::string_view ready_key);
  void EndWait(Client& client, size_t reply_start);
  void EndWaitWithError(Client& client, std::string_view error);
  void UnblockDueClients();
  void ServeAcknowledgementWaits();
  void RunPostponed();
  bool MustWaitForExpiry(const Client& client, const Command& command, Args argv);
  bool MayOpen(int database, std::string_view key);
  void RunOverdue(Micros budget);

  Engine& engine_;
  const Settings& settings_;
  const Host& host_;
  const CommandTable& commands_;
  Effects& effects_;
  Metrics& metrics_;
  Store& store_;
  Clients& clients_;
  AccessControl& access_;
  Notifier& notifier_;
  ReplyHolds& reply_holds_;
  KeyPrefetcher key_prefetcher_;
  OverdueRequests overdue_;
  std::optional<SuspendedCommand> suspended_;
  std::vector<std::function<void()>> changes_after_unit_;
  std::vector<AcknowledgementWait> acknowledgement_waits_;
  std::unique_ptr<Client> stand_in_;  // of the suspended command's client, which has left
  absl::flat_hash_set<std::string_view> logged_foreign_commands_;  // by their names in that table
  Micros command_ended_at_;  // by the stopwatch, the last one; or the start of the batch
};

}  // namespace zsetd
