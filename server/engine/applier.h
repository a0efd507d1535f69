#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/acl/acl_user.h"
#include "server/engine/client/client.h"
#include "server/engine/client/owned_args.h"

namespace zsetd {

class Engine;

// Runs requests that were propagated (propagation/effects.h): those of a log that is being read, or
// of another server.
//
// Whoever propagated them has decided already: no permission, memory limit, pause or failed
// snapshot is looked at, and nothing is due. A key past its deadline is worked on like any other
// until its DEL comes, and a deadline in the past is set instead of deleting the key. Nothing that
// is applied is propagated here again.
//
//   Applier applier(engine);
//   applier.Begin();
//   while (...) status = applier.Apply(request);
//   applier.End();
class Applier {
 public:
  // The engine outlives this.
  explicit Applier(Engine& engine);
  Applier(const Applier&) = delete;
  ~Applier();

  // Between these two nothing is due, for clients neither; so no client's command may run. O(number
  // of databases). The engine's own time goes on.
  void Begin();
  void End();

  // Runs the request, or what it carries for zsetd (propagation/own_effects.h); or if MULTI
  // precedes it queues it until EXEC: what no EXEC follows is never run. An error says what is
  // wrong with it, and nothing was changed by it: the data is not that of whoever propagated it. Of
  // a transaction all other requests have been run nevertheless.
  absl::Status Apply(Args request);

  // Whether MULTI has come and its EXEC has not.
  bool InTransaction() const { return in_transaction_; }

  // Drops the transaction that is open, if there is one, and starts in that database.
  void Restart(int database = 0);

  // As which client requests are run: its database is that of the next one.
  const Client& client() const { return client_; }

 private:
  absl::Status ApplyQueue();
  absl::Status Queue(Args request);
  absl::Status Run(Args request);

  Engine& engine_;
  User user_;  // may do everything
  Client client_;
  bool active_ = false;
  bool in_transaction_ = false;
  std::vector<OwnedArgs> queue_;
};

}  // namespace zsetd
