#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/util/time.h"
#include "server/engine/client/client.h"
#include "server/engine/engine.h"
#include "server/engine/replication.h"
#include "server/engine/support/connector.h"
#include "server/engine/support/server_log.h"
#include "server/persistence/persistence_service.h"
#include "server/persistence/snapshot/received_snapshot.h"
#include "server/replication/master_link.h"
#include "server/replication/master_stream.h"

namespace zsetd {

// A replica's part: keeps a link to the master, takes over its data, and goes with its changes.
//
//   waits ──► connects ──► greets ──► receives a snapshot ──► checks, loads it ──► is linked
//     ▲          │            │  └─────── continues ──────────────────────────────►    │
//     └──────────┴────────────┴───────── the link ends, or is silent ──────────────────┘
//
// A snapshot replaces the data only after it has been read to its end and found to be sound: a
// master whose snapshot cannot be loaded leaves the data as it is. With repl-diskless-load swapdb
// the new data is loaded next to the old, which needs memory for both. Otherwise a check reads the
// file (CheckSnapshot() in snapshot_loader.h) while requests are served from the old data, then the
// old data is dropped.
//
// The data is always that of one point of the master's history (ReplicationState), or of none while
// there is no usable data. While the data is being loaded, or a script runs, nothing more is read
// from the master.
class Follower : private Connection::Owner, private MasterLink::Listener {
 public:
  // Receives changes of the history and passes them on. Called between two units.
  class Listener {
   public:
    virtual ~Listener() = default;

    // The data is about to be replaced by the master's.
    virtual void BeforeNewHistory() = 0;

    // The data was replaced: its history and offset are new, and the old stream does not lead to
    // it.
    virtual void OnNewHistory() = 0;

    // The history goes on by another id.
    virtual void OnNewId() = 0;
  };

  // All of them outlive it.
  Follower(Engine& engine, PersistenceService& persistence, Connector& connector,
           Listener& listener, ServerLog log);
  ~Follower() override;

  // Follows that server from now on, instead of the present one. If the data is at the point of a
  // history that ReplicationState says, the master may continue from there: then `database` is that
  // which the next change is for.
  // With `takes_over` the master is a replica of this server that is told to become one (FAILOVER).
  void Start(const MasterAddress& master, std::optional<int> database, bool takes_over = false);

  // Stops following. The data stays.
  void Stop();

  MasterLinkStatus status() const;
  void ResetStats() { received_bytes_ = 0; }

  // Closes the link, if it is up, and opens it again.
  void CloseLink();

  // Whether the data is at the point of a history that ReplicationState names.
  bool has_history() const { return has_history_; }

  // Whether the takeover was not yet sent to the master; whether the master has refused it.
  bool IsTakingOver() const { return takes_over_; }
  bool IsTakeoverRefused() const { return is_takeover_refused_; }

  // As Replication has them.
  void Tick();
  bool HasWork() const;

 private:
  enum class State { kStopped, kWaiting, kConnecting, kGreeting, kReceiving, kLoading, kLinked };

  void OnConnected() override;
  void OnReceived(std::string_view bytes) override;
  void OnConnectionEnd(std::string_view reason) override;

  void OnFullSync(const std::optional<ReplicationPosition>& position) override;
  void OnSnapshot(std::optional<uint64_t> bytes) override;
  void OnSnapshotBytes(std::string_view bytes) override;
  void OnSnapshotEnd() override;
  void OnContinue(std::string_view new_id) override;
  void OnStream(std::string_view bytes) override;

  void Connect();
  LinkOptions OptionsOfLink() const;
  void Disconnect();
  void Drop(std::string_view reason, bool costs_much = false);
  void FailSnapshot(const absl::Status& status);
  void ConsiderLoading();
  void StartLoading();
  void OnChecked(absl::StatusOr<CheckedSnapshot> checked);
  void Replace(std::optional<CheckedSnapshot> checked);
  void FailLoading(const absl::Status& status);
  void OnLoaded(const absl::Status& status);
  void BecomeLinked();
  void DescribeClient() const;
  bool MayLoad() const;
  bool MayApply() const;
  void ApplyHeld();
  void Apply(std::string_view bytes);
  void PassOn(const MasterStream::Applied& applied);
  void BeginStream(int database);
  void ForgetHistory();
  void SendAck();
  void NoteLog();
  void SendSignOfLife();
  void SetLinkUp(bool up);
  Millis now() const { return engine_.store().now(); }
  Millis Since(Millis instant) const;

  Engine& engine_;
  PersistenceService& persistence_;
  Connector& connector_;
  Listener& listener_;
  const ServerLog log_;

  State state_ = State::kStopped;
  MasterAddress master_;
  bool has_history_ = false;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<MasterLink> link_;
  std::unique_ptr<Client> client_;  // the master as one, for CLIENT LIST, while it is linked
  bool is_receiving_ = false;       // in link_->Receive()
  Millis tried_at_{0};
  Millis pause_{0};            // until the next try
  int costly_failures_ = 0;    // one after the other, of what costs the master much
  std::string logged_reason_;  // why the link ended last
  Millis logged_at_{0};
  Millis heard_at_{0};
  Millis spoke_at_{0};
  Millis linked_at_{0};
  uint64_t received_bytes_ = 0;  // on all links, since the statistics were reset
  std::optional<Millis> down_since_;
  bool takes_over_ = false;  // not yet sent to the master
  bool is_takeover_refused_ = false;

  std::optional<ReplicationPosition> snapshot_position_;
  std::unique_ptr<ReceivedSnapshot> snapshot_;
  absl::Status snapshot_status_;
  std::optional<uint64_t> snapshot_bytes_;
  bool keeps_data_ = false;    // while it is loaded
  bool is_link_over_ = false;  // meanwhile

  MasterStream stream_;
  std::string held_;  // bytes of the stream that cannot be applied yet; of one reading

  struct LogMark {
    uint64_t log_position;
    int64_t offset;
  };
  std::deque<LogMark> log_marks_;  // of units that are not durable in the log
  int64_t log_offset_ = 0;         // the durable offset
};

}  // namespace zsetd
