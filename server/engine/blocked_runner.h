#pragma once

#include <cstddef>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/notify/acknowledgement_waits.h"

namespace zsetd {

class Client;
class CommandRun;
class Engine;
class Replies;
struct Command;

// Runs blocking commands again. One that finds nothing to do waits (Call::WaitFor). Its arguments
// are kept, and it runs again when one of its keys has changed, until it succeeds or its timeout
// elapses. This happens between commands, never inside a transaction.
//
// A command that CLIENT PAUSE postponed has not started; it runs for the first time after the
// pause. A command that waits for the removal of due elements has not started either
// (overdue_requests.h).
class BlockedRunner {
 public:
  // Both outlive it.
  BlockedRunner(Engine& engine, Replies& replies);
  BlockedRunner(const BlockedRunner&) = delete;

  // Puts the command of this run aside until it can be served.
  void Block(Client& client, CommandRun& run);

  // Serves the clients whose keys are ready.
  void Serve();

  // Serves clients that wait for scores which the time has reached, until none does or `budget` is
  // spent.
  void ServeDue(Micros budget);

  // Serves the clients whose writes are acknowledged.
  void ServeAcknowledged();

  // Ends waits that have timed out.
  void EndDueWaits();

  // Ends the waits for keys that this node of a cluster does not serve any more, with the
  // redirection. O(clients).
  void EndMisroutedWaits();

  // Unblocks a client without serving it: with a null reply, as after a timeout, or with an error.
  void UnblockWithTimeout(Client& client);
  void UnblockWithError(Client& client, std::string_view error);

  // Replies with an error to a client whose `command` has waited outside of BlockedClients.
  void EndWithError(Client& client, const Command& command, std::string_view error);

 private:
  void DeferUntilDue(Client& client, const BlockedCommand::Key& key);
  bool MayOpen(int database, std::string_view key);
  void RunAgain(Client& client, std::string_view ready_key);
  void EndWait(Client& client, size_t reply_start);
  size_t WriteError(Client& client, std::string_view error);
  void CountWait(const Client& client);
  void End(Client& client, size_t reply_start);

  Engine& engine_;
  Replies& replies_;
  AcknowledgementWaits acknowledgement_waits_;
};

}  // namespace zsetd
