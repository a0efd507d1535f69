#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/acl/acl_user.h"
#include "server/engine/client/caller.h"
#include "server/engine/client/owned_args.h"

namespace zsetd {

class Engine;
struct Command;

// Runs requests that were propagated (propagation/effects.h): those of a log that is being read, or
// of another server.
//
// The sender has decided already: permissions, the memory limit, pauses and failed snapshots are
// not checked, and nothing is due. A key past its deadline is used like any other until its DEL
// arrives, and a deadline in the past is set instead of deleting the key. Applied requests are not
// propagated again.
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

  // Between these two calls nothing is due, not even for clients; so no client's command may run.
  // O(number of databases). The engine's own time advances.
  void Begin();
  void End();

  // Runs the request, or what it carries for zsetd (propagation/private_commands.h); or queues it
  // after MULTI until EXEC. Requests without an EXEC never run. An error describes a request that
  // changed nothing: the data has diverged from the sender's. All other requests of a transaction
  // have run nevertheless.
  //
  // With rdb-skip-unknown, requests that concern only keys which this server cannot hold are left
  // out, like these keys of snapshots: commands that it does not know, RESTORE of a module's value,
  // RENAME of a key that was left out.
  absl::Status Apply(Args request);

  // Counts a request that needs no Apply() because it only concerns the link, such as PING.
  void Count(Args request);

  // Returns whether this server does not know the command, and leaves the request out.
  bool LeavesOut(Args request) const;

  // The number of requests that were left out, and the command of the first one.
  uint64_t skipped() const { return skipped_; }
  const std::string& first_skipped() const { return first_skipped_; }

  // Whether a MULTI has arrived without its EXEC.
  bool InTransaction() const { return in_transaction_; }

  // Drops the transaction that is open, if there is one, and starts in that database.
  void Restart(int database = 0);

  // The database of the next request.
  int database() const { return caller_.database; }

  // The command that was applied last, and how many were.
  std::string_view last_command() const { return last_command_; }
  uint64_t commands_run() const { return commands_run_; }

 private:
  absl::Status ApplyQueue();
  absl::Status Queue(Args request);
  absl::Status Run(Args request);
  bool IsSkipped(Args request) const;
  absl::Status Skip(Args request);

  Engine& engine_;
  const Statistics statistics_;
  User user_;  // may do everything
  Caller caller_;
  bool active_ = false;
  bool in_transaction_ = false;
  bool skips_next_ = false;  // the last request replaced the next one
  std::vector<OwnedArgs> queue_;
  std::string_view last_command_ = "NULL";  // a row's name
  uint64_t commands_run_ = 0;
  uint64_t skipped_ = 0;
  std::string first_skipped_;
};

}  // namespace zsetd
