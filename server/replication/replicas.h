#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/support/log.h"
#include "server/persistence/persistence_service.h"
#include "server/replication/backlog.h"
#include "server/replication/replica.h"

namespace zsetd {

// The replicas of this server: their state, their output, and the backlog.
//
//   PSYNC ──► in the backlog? ──yes──► the stream
//                 └──no──► a snapshot, shared by all requests in time ──► the stream
//
// Effects are written to the backlog from the first replica on, until repl-backlog-ttl after the
// last one has disconnected.
class Replicas {
 public:
  // Runs a function on the engine's thread later. Any thread may call it.
  using Post = std::function<void(std::function<bool()>)>;

  // The arguments outlive this. When it is destroyed, all posted calls have ended.
  Replicas(Engine& engine, PersistenceService& persistence, FileSystem& files, const Log& log,
           Post post);
  ~Replicas();
  Replicas(const Replicas&) = delete;

  // See ReplicaRegistry.
  ReplicaOptions& OptionsOf(Client& client) { return options_[client.id]; }
  absl::Status Synchronize(Client& client, const StreamPosition& from);
  absl::Status SynchronizeByOldProtocol(Client& client);
  void Acknowledge(Client& client, int64_t offset, std::optional<int64_t> log_offset);
  void AskForAcknowledgements() { asks_ = true; }
  int64_t CountAcknowledged(int64_t offset) const;
  int64_t CountLogged(int64_t offset) const;
  int64_t last_change() const;
  ReplicaProgress ProgressTo(int64_t offset) const;
  std::vector<ReplicaStatus> Status() const;
  StreamStatus stream() const;
  void ResetStats() { full_syncs_ = partial_syncs_ = refused_partial_syncs_ = 0; }
  void OnLeave(Client& client);
  void EndRound();
  void Tick();
  bool HasWork() const;

  // Creates the backlog unless it exists, so that later replicas can continue from here.
  void EnsureBacklog();

  // Drops the stored bytes of the old history after a new history has started.
  void ResetBacklog();

  // Disconnects all replicas. They reconnect and continue at their offset if possible.
  void DisconnectAll();

  ReplicaStatus StatusOf(const Replica& replica) const;

  // Returns the replica at this address. With an empty `host`, returns the first replica that has
  // acknowledged the whole history. Null if none exists.
  const Replica* Find(const std::string& host, int64_t port) const;

 private:
  // The replicas that share a snapshot, and the snapshot.
  struct Group {
    std::vector<uint64_t> clients;       // their IDs
    std::shared_ptr<SnapshotPipe> pipe;  // null: the snapshot goes to a file
    std::string mark;
    std::string path;  // the path of the file
    int64_t offset = 0;
  };

  absl::Status CheckSynchronize(const Client& client) const;
  bool CanContinue(const StreamPosition& from) const;
  Replica& Add(Client& client);
  bool MayStartSync() const;
  void StartSync();
  void StartPipe(const SnapshotContents& contents);
  void StartFile(const SnapshotContents& contents);
  void EndSync(const absl::Status& result);
  absl::Status SendFile();
  void Maintain(Millis now);
  void Ping(Millis now);
  int64_t CountGood() const;
  Millis Now() const;
  bool MayAppendControl() const;
  bool IsFailoverOn() const;
  void AppendControl(std::initializer_list<std::string_view> words);
  void DropUnneeded();
  void FreeBacklog(Millis now);
  void WakeReaders();

  Engine& engine_;
  PersistenceService& persistence_;
  FileSystem& files_;
  const Log& log_;
  const Post post_;
  std::unique_ptr<Backlog> backlog_;                  // null: no bytes are kept
  std::map<uint64_t, std::unique_ptr<Replica>> all_;  // by client ID
  std::map<uint64_t, ReplicaOptions> options_;        // of clients that are not replicas yet
  std::optional<Group> group_;                        // the group whose snapshot is being taken
  std::optional<Millis> waits_since_;    // since when a replica has been waiting for a snapshot
  std::optional<Millis> without_since_;  // since when there have been no replicas
  Millis looked_after_at_{0};
  Millis pinged_at_{0};
  std::optional<Millis> control_in_failover_at_;  // the last control request while one waited
  int64_t sent_until_ = 0;   // the end of the backlog when replicas were last woken
  int64_t change_end_ = 0;   // the end of the last change before `control_end_`
  int64_t control_end_ = 0;  // the end of the last control request
  bool asks_ = false;
  uint64_t drafts_ = 0;
  uint64_t full_syncs_ = 0;
  uint64_t partial_syncs_ = 0;
  uint64_t refused_partial_syncs_ = 0;
};

}  // namespace zsetd
