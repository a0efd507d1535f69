#pragma once

#include <span>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/metrics/command_clock.h"
#include "server/engine/metrics/read_counts.h"

namespace zsetd {

class Client;
class Engine;

// Runs requests on one thread while other threads do the same: requests whose commands only read
// (Command::concurrent). Everything else runs through the Executor, on one thread at a time.
//
//   AreReads      the rows                 without the engine
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

  // Whether all these requests name concurrent commands. Uses only the command table, which does
  // not change while the server runs.
  bool AreReads(std::span<const Args> requests) const;

  // Whether requests may run in the shared turn that begins now. `now` is the present time: the
  // engine must have reached it. Not if requests have consequences beyond their reply, such as
  // messages to MONITOR, or are checked by rules that change something, such as maxmemory.
  bool MayBegin(Millis now);

  // Whether the client's requests may run in a shared turn, as far as its own state decides it.
  bool MayServe(const Client& client) const;

  // Runs the request and writes the reply. Returns false if it must run alone; then nothing has
  // changed.
  bool Run(Client& client, Args argv);

 private:
  bool MayRun(Client& client, const Command& command, Args argv) const;

  Engine& engine_;
  CommandClock clock_;
  ReadCounts counts_;
};

}  // namespace zsetd
