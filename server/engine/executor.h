#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/admission.h"
#include "server/engine/client/client.h"
#include "server/engine/notify/overdue_requests.h"
#include "server/engine/propagation/unit.h"
#include "server/engine/replies.h"

namespace zsetd {

class BlockedRunner;
class Clients;
class CommandClock;
class CommandTable;
class Engine;
class Metrics;
class Notifier;
class ServerMode;
class Store;
class SuspendedUnit;
struct Command;
struct Host;

// Runs the commands of the clients, one at a time.
//
//   request ──► admission ──► the command ──► consequences of its changes ──► reply
//
// A request may also be queued (MULTI), postponed (CLIENT PAUSE, OverdueRequests), blocked until a
// key changes (BlockedRunner), or suspended in the middle, as a slow script (SuspendedUnit).
class Executor {
 public:
  // The engine, whose parts it connects, outlives it.
  explicit Executor(Engine& engine);
  Executor(const Executor&) = delete;

  // Must be called before a batch of requests. Advances the time, serves the blocked clients that
  // waited for it, and restarts the clock of commands.
  void BeginBatch(Millis now);

  // Advances the time, between commands. If the clock is set back the time goes back: deadlines are
  // instants of that clock.
  void AdvanceTo(Millis now);

  // Runs, postpones or rejects a request: the reply is in client.output.buffer when this returns,
  // or begins there and continues in client.output.long_reply.
  void Execute(Client& client, Args argv);

  // Writes the next piece of the client's long reply, some kilobytes.
  void ContinueReply(Client& client);

  // Runs a queued request as part of the client's transaction. It was checked when it was queued,
  // but the user's permissions may have changed.
  void RunQueued(Client& client, const QueuedCommand& queued);

  // Ends waits that have timed out. At most `hz` times a second, wakes stalled clients and those
  // with a large unused buffer, and closes idle ones. Closes clients that take too much memory,
  // evicts keys if memory is short, and frees due keys and elements until none is left or `budget`
  // is spent. Sends the messages about live tops that are due.
  void Tick(Micros budget);

  // The earliest deadline of a key (past if it is not deleted yet), a blocked client or a pause;
  // nullopt without deadlines. O(databases).
  std::optional<Millis> NextDeadline() const;

  // Must be called after a round of requests, before its replies are sent.
  void EndRound();

  // Must be called after propagated requests were applied (applier.h). Serves the blocked clients
  // whose keys are ready, and sends the messages about the changes.
  void OnApplied();

  // A client leaves.
  void OnLeave(Client& client);

  // The requests that wait for the removal of due elements in their keys.
  OverdueRequests& overdue() { return overdue_; }
  const OverdueRequests& overdue() const { return overdue_; }

  Replies& replies() { return replies_; }

 private:
  void Process(Client& client, Args argv);
  std::optional<Unit> AdmitActive(Client& client, Args argv);
  std::optional<Unit> Admit(Client& client, Args argv);
  std::optional<Unit> Run(Client& client, const Command& command, Args argv);
  std::optional<Unit> RunImported(Client& client, const Command& command, Args argv);
  void CountTraffic(const Client& client, Args argv, size_t reply_start);
  void EndRequest(Client& client, size_t reply_start);
  void ContinueSuspended();
  void Reject(Client& client, const Command* command, const absl::Status& why);
  void Enqueue(Client& client, const Command& command, Args argv);
  static void EndExceptions(Client& client, Args argv);
  void DoDueWork(Micros budget);
  void RunPostponed(Micros budget);
  bool MustWaitForExpiry(const Client& client, const Command& command, Args argv);
  void RunOverdue(Micros budget);

  Engine& engine_;
  const Host& host_;
  const CommandTable& commands_;
  Metrics& metrics_;
  Store& store_;
  Clients& clients_;
  Notifier& notifier_;
  CommandClock& clock_;
  BlockedRunner& blocked_runner_;
  SuspendedUnit& suspended_;
  const ServerMode& mode_;
  Admission admission_;
  Replies replies_;
  OverdueRequests overdue_;
};

}  // namespace zsetd
