#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/metrics/command_clock.h"
#include "server/engine/metrics/read_counts.h"

namespace zsetd {

class Client;
class Engine;
struct Command;

// The commands of the next requests of a connection, as a range of those that its thread has found.
struct FoundCommands {
  size_t next = 0;
  size_t end = 0;
};

// Runs requests on one thread while other threads do the same: requests whose commands only read
// (Command::concurrent). Everything else runs through the Executor, on one thread at a time.
//
//   Find          looks up the commands    without the engine
//   MayBegin      the server's state       at the start of each shared turn
//   MayServe      the client's state       before its requests run
//   Run           this request             it may find that it must run alone
//
// A shared turn changes nothing that another thread uses in its shared turn: only the thread's
// clients, its own counts, and the access stamps of keys, which are atomic. So there is no
// propagation, notification, tracking, eviction or expiry, and the time does not advance.
class ConcurrentReads {
 public:
  // The engine outlives it.
  explicit ConcurrentReads(Engine& engine);
  ConcurrentReads(const ConcurrentReads&) = delete;
  ~ConcurrentReads();

  // Returns the commands of these requests if all are concurrent, otherwise nullopt. The result is
  // valid until Forget(). Uses only the command table, which does not change while the server runs.
  std::optional<FoundCommands> Find(std::span<const Args> requests);
  void Forget() { found_.clear(); }

  // Whether requests may run in the shared turn that begins now. `now` is the present time: the
  // engine must have reached it. Not if requests have consequences beyond their reply, such as
  // messages to MONITOR, or are checked by rules that change something, such as maxmemory.
  bool MayBegin(Millis now);

  // Whether the client's requests may run in a shared turn, as far as its own state decides it.
  bool MayServe(const Client& client) const;

  // Runs the request and writes the reply. Returns false if it must run alone; then nothing has
  // changed. The first overload looks the command up; the second takes it from `found`, unless that
  // is empty.
  bool Run(Client& client, Args argv) {
    FoundCommands none;
    return Run(client, argv, none);
  }
  bool Run(Client& client, Args argv, FoundCommands& found);

 private:
  const Command* Next(Args argv, FoundCommands& found) const;
  bool MayRun(Client& client, const Command& command, Args argv) const;

  Engine& engine_;
  CommandClock clock_;
  ReadCounts counts_;
  std::vector<const Command*> found_;
};

}  // namespace zsetd
