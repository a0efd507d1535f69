#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/acl/acl_user.h"
#include "server/engine/client/client.h"
#include "server/engine/client/owned_args.h"

namespace zsetd {

class Engine;
struct Command;

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
  // Whether requests count in the statistics of commands: those of a master do, as in Redis, and
  // those of a log that is loaded do not.
  enum class Statistics { kLeaves, kCounts };

  // The engine outlives this.
  explicit Applier(Engine& engine, Statistics statistics = Statistics::kLeaves);
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
  //
  // With rdb-skip-unknown, requests that concern only keys which this server cannot hold are left
  // out, like these keys of snapshots: commands that it does not know, RESTORE of a stream, RENAME
  // of a key that was left out.
  absl::Status Apply(Args request);

  // Counts a request that needs no Apply() because it only concerns the link, such as PING.
  void Count(Args request);

  // Returns whether this server does not know the command, and leaves the request out.
  bool LeavesOut(Args request) const;

  // The number of requests that were left out, and the command of the first one.
  uint64_t skipped() const { return skipped_; }
  const std::string& first_skipped() const { return first_skipped_; }

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
  void Count(const Command& command, Args request);
  bool IsSkipped(Args request) const;
  absl::Status Skip(Args request);

  Engine& engine_;
  const Statistics statistics_;
  Micros ended_at_{0};  // when the last request ended
  User user_;           // may do everything
  Client client_;
  bool active_ = false;
  bool in_transaction_ = false;
  std::vector<OwnedArgs> queue_;
  uint64_t skipped_ = 0;
  std::string first_skipped_;
};

}  // namespace zsetd
