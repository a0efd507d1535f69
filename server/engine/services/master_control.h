#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/util/time.h"

namespace zsetd {

class Client;

// The link of a replica to its master.
struct MasterLinkStatus {
  // The master as a client in CLIENT LIST; null while the link is not up. It is not attached, and
  // acts for no user. Valid until the link changes.
  const Client* client = nullptr;
  std::string_view state = "connect";  // for ROLE: connect, connecting, sync or connected
  int64_t applied_offset = 1;          // of the history; 1 while the data has no history
  int64_t read_offset = 1;             // the end of the received part of the history
  std::optional<Millis> silent_for;    // since the master sent something
  std::optional<Millis> down_for;      // nullopt while the link is up, or if it never was
  uint64_t received_bytes = 0;         // of all links, including snapshots
  bool is_syncing = false;             // receives or loads a snapshot
  int64_t sync_total_bytes = 0;        // the size of that snapshot; 0 if it is not known
  int64_t sync_read_bytes = 0;         // the received part of that snapshot
  std::optional<Millis> sync_silent_for;
};

// A planned exchange of roles (FAILOVER).
struct FailoverRequest {
  std::string host;  // of the replica to be promoted; empty: the first that has all changes
  int64_t port = 0;
  bool forces = false;  // after the timeout, even if the replica lacks changes
  Millis timeout{0};    // 0: none
};

// Controls which master this server follows.
class MasterControl {
 public:
  virtual ~MasterControl() = default;

  // Makes this server the replica of another server. Changes the settings too. `request` is the
  // origin of the request for the log: "user request from 'id=3 addr=...'".
  virtual absl::Status Follow(std::string host, int64_t port, std::string_view request) = 0;

  // Makes this replica a master. `request` is like that of Follow().
  virtual void Promote(std::string_view request) = 0;

  virtual MasterLinkStatus master_link() const = 0;

  // Closes the link to the master. The replica opens another one.
  virtual void CloseMasterLink() = 0;

  virtual std::string_view failover_state() const = 0;  // the name in Redis
  virtual absl::Status StartFailover(const FailoverRequest& request) = 0;
  virtual absl::Status AbortFailover() = 0;
};

}  // namespace zsetd
