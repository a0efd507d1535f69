#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "core/util/time.h"
#include "protocol/resp/output_buffer.h"
#include "server/engine/client/owned_args.h"
#include "server/engine/propagation/unit.h"

namespace zsetd {

class Client;
class CommandRun;
class Engine;
struct Command;

// The unit of a script that is suspended, with the command that called the script and the
// transaction around it. There is at most one.
//
// The consequences of its changes wait for its end. Until then the engine's time does not advance,
// no key expires or is evicted, and only commands that access no data run (kAllowBusy); others
// receive BUSY. If its client disconnects, a stand-in completes the unit.
class SuspendedUnit {
 public:
  // The engine outlives it.
  explicit SuspendedUnit(Engine& engine);
  SuspendedUnit(const SuspendedUnit&) = delete;
  ~SuspendedUnit();

  bool IsOn() const { return command_.has_value(); }

  // The error for other requests while the unit is suspended.
  std::string_view BusyError() const;

  // The script of this run was suspended. In a transaction, this is called for the queued command
  // first, which is kept, and then for EXEC: it runs again when the script has ended.
  void Start(Client& client, CommandRun& run);

  // The client's command has left the rest of the unit for later. Keeps the unit open, and the part
  // of the reply from this offset in the client's buffer on: CLIENT REPLY, or a reply that is too
  // long, may still discard it. Continue() keeps the reply of later slices itself.
  void Keep(Unit unit);
  void KeepReply(size_t reply_start);

  // The client whose command is suspended. Precondition: IsOn().
  Client& client() { return *command_->client; }

  // Runs the script for another slice, and the rest of the transaction if the script ends. The
  // reply until then is in the client's buffer again. Returns the unit if it has ended. The client
  // is active (ActiveClient).
  std::optional<Unit> Continue();

  // Must be called when what followed from the end of the unit is done.
  void Forget();

  // A client leaves: if its script is suspended, the script goes on without it.
  void OnLeave(Client& client);

 private:
  struct SuspendedCommand {
    Client* client;
    const Command* command;
    OwnedArgs argv;
    OutputBuffer reply;  // of the transaction until then
    Micros took{0};
  };

  std::optional<Unit> RunSlice(Client& client);
  void ContinueTransaction(Client& client);
  void Replace(Client& leaving);

  Engine& engine_;
  std::optional<SuspendedCommand> command_;
  std::optional<Unit> unit_;
  std::unique_ptr<Client> stand_in_;  // of the client, which has left
};

}  // namespace zsetd
