// The interface of replication for commands and the engine; server/main.cc passes the
// implementation (services.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/util/time.h"

namespace zsetd {

class Client;

// The properties that a replica announces (REPLCONF).
struct ReplicaOptions {
  int64_t port = 0;              // its listening port; 0: not announced
  std::string address;           // that it is reached at; empty: where its connection comes from
  bool takes_eof = false;        // a snapshot whose length is not known at its beginning
  bool takes_psync2 = false;     // a new id of the history when it continues
  bool only_snapshot = false;    // nothing afterwards
  bool leaves_out_data = false;  // in the snapshot
  bool leaves_out_functions = false;
};

// A replica of this server.
struct ReplicaStatus {
  uint64_t client = 0;  // by id
  std::string address;
  int64_t port = 0;
  std::string_view state;  // the name in Redis
  bool is_online = false;
  int64_t offset = 0;      // of the history, that it has acknowledged
  int64_t log_offset = 0;  // that is durable in its append-only log
  int64_t lag_s = 0;       // since it acknowledged
};

// How many replicas have acknowledged everything up to an offset.
struct ReplicaProgress {
  size_t replicas = 0;
  std::vector<ReplicaStatus> lagging;  // those that have not
};

// The link of a replica to its master.
struct MasterLinkStatus {
  // The master as a client in CLIENT LIST; null while the link is not up. It is not attached, and
  // acts for no user. Valid until the link changes.
  const Client* client = nullptr;
  std::string_view state = "connect";  // as ROLE has it: connect, connecting, sync, connected
  int64_t applied_offset = 1;          // of the history; 1 while the data is of none
  int64_t read_offset = 1;             // the same, that has been received
  std::optional<Millis> silent_for;    // since the master sent something
  std::optional<Millis> down_for;      // nothing while the link is up, or if it never was
  uint64_t received_bytes = 0;         // of all links, snapshots included
  bool is_syncing = false;             // receives or loads a snapshot, which has
  int64_t sync_total_bytes = 0;        // 0 if that is not known, and of which
  int64_t sync_read_bytes = 0;         // received,
  std::optional<Millis> sync_silent_for;
};

// Full and partial synchronizations of replicas, as INFO counts them, and the memory that is kept
// for them.
struct StreamStatus {
  uint64_t full_syncs = 0;
  uint64_t partial_syncs = 0;
  uint64_t refused_partial_syncs = 0;
  bool has_backlog = false;
  int64_t backlog_first_offset = 0;
  int64_t backlog_bytes = 0;
  size_t backlog_memory = 0;
};

// Where a replica is in a history (PSYNC): the next byte that it needs.
struct StreamPosition {
  std::string_view id;
  int64_t offset = 0;
};

// A planned exchange of roles (FAILOVER).
struct FailoverRequest {
  std::string host;  // of the replica to be promoted; empty: the first that has all
  int64_t port = 0;
  bool forces = false;  // after the timeout, whatever it has
  Millis timeout{0};    // 0: none
};

class Replication {
 public:
  virtual ~Replication() = default;

  // Makes this server the replica of another one, or a master again. The settings are changed, too.
  // `request` is the origin of the request in the log: "user request from 'id=3 addr=...'".
  virtual void Follow(std::string host, int64_t port, std::string_view request) = 0;
  virtual void Promote(std::string_view request) = 0;
  virtual MasterLinkStatus master_link() const = 0;

  // Closes the link to the master, which the replica opens again.
  virtual void CloseMasterLink() = 0;

  // --- Of replicas that are connected. ---

  virtual ReplicaOptions& OptionsOf(Client& client) = 0;

  // Makes the client a replica, from that position on or with a snapshot first, or refuses to. Its
  // output is then a stream, not replies.
  virtual absl::Status Synchronize(Client& client, const StreamPosition& from) = 0;
  virtual absl::Status SynchronizeByOldProtocol(Client& client) = 0;

  // A replica has all until there, and until there durably.
  virtual void Acknowledge(Client& client, int64_t offset, std::optional<int64_t> log_offset) = 0;

  // Requests an immediate acknowledgement from replicas.
  virtual void AskForAcknowledgements() = 0;

  // How many replicas have acknowledged all until there, and have it in their logs.
  virtual int64_t CountAcknowledged(int64_t offset) const = 0;
  virtual int64_t CountLogged(int64_t offset) const = 0;

  // The offset at which the last change ends. PINGs and requests for acknowledgements after it do
  // not count.
  virtual int64_t last_change() const = 0;

  // A client that only takes a snapshot does not count.
  virtual ReplicaProgress ProgressTo(int64_t offset) const = 0;

  virtual std::vector<ReplicaStatus> replicas() const = 0;  // in the order in which they came
  virtual StreamStatus stream() const = 0;
  virtual std::string_view failover_state() const = 0;  // the name in Redis

  // CONFIG RESETSTAT: restarts the counts of synchronizations and of received bytes.
  virtual void ResetStats() = 0;

  // Begins a failover, or gives it up.
  virtual absl::Status StartFailover(const FailoverRequest& request) = 0;
  virtual absl::Status AbortFailover() = 0;
};

}  // namespace zsetd
