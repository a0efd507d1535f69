#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "protocol/resp/request_parser.h"
#include "server/engine/notify/reply_holds.h"
#include "server/engine/port/concurrent_reads.h"
#include "server/engine/request/key_prefetcher.h"

namespace zsetd {

class Client;
class Engine;
struct Traffic;

// The part of the engine that a connection sees. A round has these steps, each for all its
// connections:
//
//   read                             no call of the port
//   Begin, Prefetch                  reports the traffic, prefetches keys
//   StartServing, Execute, ...       runs the requests
//   ReleaseOf, IsStalled             decides whether the replies are sent
//   write                            no call of the port
//
// A connection that reads or writes does not use the engine, so other threads may run requests at
// the same time. Each thread that serves connections has a port of its own.
//
// Between BeginShared() and EndShared() other threads use the engine, too. Then only the functions
// may be called that are marked as shared, and for the thread's own clients only.
class RequestPort {
 public:
  // The engine outlives it.
  explicit RequestPort(Engine& engine) : engine_(engine), reads_(engine) {}
  RequestPort(const RequestPort&) = delete;

  // The connections of the thread read or write until this is set back: debug builds check that
  // none calls the port.
  void set_in_network(bool in_network) { in_network_ = in_network; }

  // Returns the commands of these requests if all only read (ConcurrentReads::Find). Valid until
  // ForgetReads(). May be called at any time.
  std::optional<FoundCommands> FindReads(std::span<const Args> requests) {
    return reads_.Find(requests);
  }
  void ForgetReads() { reads_.Forget(); }

  // --- Shared turns. ---

  // Begins one, if requests may run in it (ConcurrentReads::MayBegin). `now` is the present time.
  bool BeginShared(Millis now) { return is_shared_ = reads_.MayBegin(now); }
  void EndShared() { is_shared_ = false; }

  // Whether requests may run in this turn: of any client, and of this one. Shared.
  bool IsShared() const { return is_shared_; }
  bool MayServeShared(const Client& client) const { return reads_.MayServe(client); }

  // Runs a request (ConcurrentReads::Run). Returns false if it must run alone; then nothing has
  // changed. Shared.
  bool ExecuteShared(Client& client, Args argv, FoundCommands& found) {
    assert(is_shared_);
    if (!reads_.Run(client, argv, found)) return false;
    ++requests_;
    ++shared_requests_;
    return true;
  }

  // Whether the data is so large that Prefetch() is useful, according to the last rounds. May be
  // called at any time.
  bool Prefetches() const { return prefetcher_.IsActive(); }

  // --- The lifetime of a connection. ---

  uint64_t NextClientId();
  void Attach(Client& client);
  void Detach(Client& client);

  // --- The steps of a round, in this order. ---

  // Notes the traffic for the client. Returns false if the client has sent more than it may, and
  // must be closed. Shared, if no limit can be exceeded.
  bool Begin(Client& client, const Traffic& traffic);

  // The limits of the client's next request. Shared.
  RequestLimits LimitsOf(const Client& client) const;

  // Announces requests that will run in this round. FetchPrefetched() prefetches for all that were
  // announced, and must be called before the first of them runs. Both are shared.
  void Prefetch(const Client& client, std::span<const Args> requests);
  void FetchPrefetched();

  // Must be called before the requests of a connection run.
  void StartServing(Millis now);

  // Runs a request of the client (Executor::Execute), or writes the next piece of its reply.
  void Execute(Client& client, Args argv);
  void ContinueReply(Client& client);

  // The client's memory may have changed.
  void OnMemoryChange(Client& client);

  // When the client's replies may leave. Shared.
  Release ReleaseOf(const Client& client) const;

  // Whether too much is unsent. Counted once, because the client must be closed then.
  bool IsStalled(Client& client);

  Millis now() const;  // shared, as the next

  // Whether keys will be evicted unless memory is freed.
  bool IsMemoryShort() const;

  // The requests that ran through this port, since the start or the last reset.
  uint64_t requests() const { return requests_; }
  uint64_t shared_requests() const { return shared_requests_; }  // of these, in shared turns
  void ResetRequests() { requests_ = shared_requests_ = 0; }

 private:
  Engine& engine() const {
    assert(!in_network_);
    return engine_;
  }

  Engine& engine_;
  ConcurrentReads reads_;
  KeyPrefetcher prefetcher_;
  uint64_t requests_ = 0;
  uint64_t shared_requests_ = 0;
  bool in_network_ = false;
  bool is_shared_ = false;
};

}  // namespace zsetd
