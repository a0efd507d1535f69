#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace zsetd {

class Client;

// The properties that a replica announces (REPLCONF).
struct ReplicaOptions {
  int64_t port = 0;              // its listening port; 0: not announced
  std::string address;           // its announced address; empty: that of its connection
  bool takes_eof = false;        // a snapshot whose length is not known at its beginning
  bool takes_psync2 = false;     // a new ID of the history when it continues
  bool only_snapshot = false;    // no changes after the snapshot
  bool leaves_out_data = false;  // from the snapshot
  bool leaves_out_functions = false;
};

// A replica of this server.
struct ReplicaStatus {
  uint64_t client = 0;  // its ID
  std::string address;
  int64_t port = 0;
  std::string_view state;  // the name in Redis
  bool is_online = false;
  int64_t offset = 0;      // the end of the history that it has acknowledged
  int64_t log_offset = 0;  // the end that is durable in its append-only log
  int64_t lag_s = 0;       // since it acknowledged
};

// The number of replicas, and those that have not acknowledged everything up to an offset.
struct ReplicaProgress {
  size_t replicas = 0;
  std::vector<ReplicaStatus> lagging;
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

// The position of a replica in a history (PSYNC): the next byte that it needs.
struct StreamPosition {
  std::string_view id;
  int64_t offset = 0;
};

// The replicas of this server.
class ReplicaRegistry {
 public:
  virtual ~ReplicaRegistry() = default;

  // The options that the client has announced. It may be a replica already or later.
  virtual ReplicaOptions& OptionsOf(Client& client) = 0;

  // Makes the client a replica that continues from the position, or that first receives a snapshot.
  // Its output is then a stream, not replies.
  virtual absl::Status Synchronize(Client& client, const StreamPosition& from) = 0;
  virtual absl::Status SynchronizeByOldProtocol(Client& client) = 0;

  // The replica has applied all changes up to `offset`, and has those up to `log_offset` durably.
  virtual void Acknowledge(Client& client, int64_t offset, std::optional<int64_t> log_offset) = 0;

  // Requests an immediate acknowledgement from each replica.
  virtual void AskForAcknowledgements() = 0;

  // The number of replicas that have acknowledged all changes up to the offset, and the number of
  // those that have them in their logs.
  virtual int64_t CountAcknowledged(int64_t offset) const = 0;
  virtual int64_t CountLogged(int64_t offset) const = 0;

  // The offset at which the last change ends. Later PINGs and requests for acknowledgements do not
  // count.
  virtual int64_t last_change() const = 0;

  // A client that only takes a snapshot does not count.
  virtual ReplicaProgress ProgressTo(int64_t offset) const = 0;

  virtual std::vector<ReplicaStatus> replicas() const = 0;  // in the order in which they connected
  virtual StreamStatus stream() const = 0;

  // Restarts the counts of synchronizations and of bytes received from masters (CONFIG RESETSTAT).
  virtual void ResetStats() = 0;
};

}  // namespace zsetd
