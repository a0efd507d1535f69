#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"
#include "server/engine/state/server_mode.h"

namespace zsetd {

// The largest offset that a history from outside may begin at: room is left for all that may
// follow.
inline constexpr int64_t kMostFirstOffset = INT64_MAX / 2;

// A place in the history of a master's changes (ReplicationState), and the database that the stream
// is in there.
struct HistoryPlace {
  std::string id;
  int64_t offset = 0;
  int database = 0;

  friend bool operator==(const HistoryPlace&, const HistoryPlace&) = default;
};

struct MasterAddress {
  std::string host;
  int64_t port = 0;
};

// The master that the settings name; nullopt: none.
std::optional<MasterAddress> MasterIn(const Settings& settings);

// The role of the server, master or replica; the position of its data in the shared history; and
// the requests that this allows. The setting `replicaof` names the master.
//
// A history is the sequence of bytes that a master propagates, identified by 40 hexadecimal digits.
// Servers with the same id and the same offset have the same data. A replica that is promoted
// begins a history of its own, and remembers the one that it has followed until then: other
// replicas of the old master continue with it where they are.
//
//   id2   |=====================|                    second_offset: the first byte that is not of
//   it id    |=====================|=================|  offset: of the last byte
class ReplicationState {
 public:
  // All of them outlive it.
  ReplicationState(const Settings& settings, ServerMode& mode);

  // --- The history. ---

  const std::string& id() const { return id_; }
  const std::string& second_id() const { return second_id_; }  // zeros: no second ID
  int64_t second_offset() const { return second_offset_; }     // -1: no second ID
  int64_t offset() const { return offset_; }

  // So many bytes of the history follow.
  void Advance(size_t bytes) { offset_ += static_cast<int64_t>(bytes); }

  // Starts a history under a new ID: changes that no replica received made the old ID invalid.
  void Restart();

  // A new one begins here, and the one until here is remembered.
  void Branch();

  // The data is that of this history at that offset.
  void Join(std::string id, int64_t offset);

  // The master continues under this ID, which branched off at this server's offset.
  void Rename(std::string id);

  // The data was loaded from a snapshot of this point of a history. No replica has received later
  // changes.
  void Resume(std::string id, int64_t offset);

  // The database that the stream of the master is in, of a replica.
  int stream_database() const { return stream_database_; }
  void set_stream_database(int database) { stream_database_ = database; }

  // --- The role. ---

  bool is_replica() const { return mode_.is_replica(); }
  void set_is_replica(bool is_replica) { mode_.set_replica(is_replica); }

  // For a replica: whether it receives its master's stream.
  void set_link_up(bool up) { link_up_ = up; }
  bool link_up() const { return link_up_; }

  // The number of replicas that have acknowledged within min-replicas-max-lag. `count` returns that
  // of the present moment: a number that is stored would be wrong until it is counted again.
  void set_good_replicas(std::function<int64_t()> count) { good_replicas_ = std::move(count); }
  int64_t good_replicas() const { return good_replicas_ ? good_replicas_() : 0; }

  // --- What follows for requests of clients. ---

  // Whether any may be refused.
  bool Restricts() const { return is_replica() || settings_.min_replicas_to_write > 0; }

  // Whether the server is a replica that clients may not write to.
  bool IsReadOnly() const { return is_replica() && settings_.replica_read_only; }

  // Whether one that writes is refused, and why.
  absl::Status CheckWrite() const;

  // Whether one that reads data that may be out of date is.
  absl::Status CheckStale() const;

  // Whether the server is a replica that evicts nothing.
  bool LeavesEvictionToMaster() const { return is_replica() && settings_.replica_ignore_maxmemory; }

 private:
  const Settings& settings_;
  ServerMode& mode_;
  std::string id_;
  std::string second_id_;
  int64_t second_offset_ = -1;
  int64_t offset_ = 0;
  int stream_database_ = 0;
  bool link_up_ = false;
  std::function<int64_t()> good_replicas_;  // null: there is no replication
};

}  // namespace zsetd
