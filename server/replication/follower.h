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
#include "server/engine/services/master_control.h"
#include "server/engine/support/connector.h"
#include "server/engine/support/log.h"
#include "server/persistence/persistence_service.h"
#include "server/persistence/snapshot/received_snapshot.h"
#include "server/replication/master_link.h"
#include "server/replication/master_stream.h"

namespace zsetd {

// The replica's side of replication: keeps a link to the master, loads its data, and applies its
// changes.
//
//   waits ──► connects ──► greets ──► receives a snapshot ──► checks, loads it ──► is linked
//     ▲          │            │  └─────── continues ──────────────────────────────►    │
//     └──────────┴────────────┴───────── the link ends, or is silent ──────────────────┘
//
// A snapshot replaces the data only after it was read completely without an error. If a master's
// snapshot cannot be loaded, the data is unchanged. With repl-diskless-load swapdb the new data is
// loaded while the old data is kept, which needs memory for both. Otherwise a check reads the file
// (CheckSnapshot() in snapshot_loader.h) while requests are served from the old data. After the
// check, the old data is dropped.
//
// The data always equals the master's at one point of its history (ReplicationState), unless
// has_history() is false. During a load or a script, and while the log has much to write, no bytes
// are read from the master.
class Follower : private Connection::Owner, private MasterLink::Listener {
 public:
  // Is notified of changes of the history, between two units.
  class Listener {
   public:
    virtual ~Listener() = default;

    // The master's data is about to replace the data.
    virtual void BeforeNewHistory() = 0;

    // The data was replaced. Its history and offset are new and do not continue the old stream.
    virtual void OnNewHistory() = 0;

    // The history continues under another ID.
    virtual void OnNewId() = 0;
  };

  // The arguments outlive this.
  Follower(Engine& engine, PersistenceService& persistence, Connector& connector,
           Listener& listener, const Log& log);
  ~Follower() override;

  // Follows `master` instead of the present master. `database` has a value if the data is at the
  // point of a history that ReplicationState states: the master may continue from there. Then the
  // next change applies to `database`. With `takes_over`, `master` is a replica of this server,
  // which requests it to become the master (FAILOVER).
  void Start(const MasterAddress& master, std::optional<int> database, bool takes_over = false);

  // Stops following. The data stays.
  void Stop();

  MasterLinkStatus status() const;
  void ResetStats() { received_bytes_ = 0; }

  // Closes the link if it is up. It is opened again later.
  void CloseLink();

  // Whether the data is at the point of a history that ReplicationState states.
  bool has_history() const { return has_history_; }

  // Whether a takeover was requested and the master has not accepted it yet; whether the master has
  // refused it.
  bool IsTakingOver() const { return takes_over_; }
  bool IsTakeoverRefused() const { return is_takeover_refused_; }

  // See MasterControl.
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
  Millis Now() const;
  Millis Since(Millis instant) const;

  Engine& engine_;
  PersistenceService& persistence_;
  Connector& connector_;
  Listener& listener_;
  const Log& log_;

  State state_ = State::kStopped;
  MasterAddress master_;
  bool has_history_ = false;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<MasterLink> link_;
  std::unique_ptr<Client> client_;  // the master as a client, for CLIENT LIST, while linked
  bool is_receiving_ = false;       // in link_->Receive()
  Millis tried_at_{0};
  Millis pause_{0};            // from `tried_at_` to the next try
  int costly_failures_ = 0;    // failures in a row that cost the master a snapshot
  std::string logged_reason_;  // the reason in the last log line
  Millis logged_at_{0};
  Millis heard_at_{0};
  Millis spoke_at_{0};
  Millis linked_at_{0};
  uint64_t received_bytes_ = 0;  // on all links since the last reset of the statistics
  std::optional<Millis> down_since_;
  bool takes_over_ = false;  // requested and not accepted yet
  bool is_takeover_refused_ = false;

  std::optional<ReplicationPosition> snapshot_position_;
  std::unique_ptr<ReceivedSnapshot> snapshot_;
  absl::Status snapshot_status_;
  std::optional<uint64_t> snapshot_bytes_;
  bool keeps_data_ = false;    // during the load
  bool is_link_over_ = false;  // the link has ended during the load

  MasterStream stream_;
  std::string held_;  // received bytes of the stream that are not applied yet

  struct LogMark {
    uint64_t log_position;
    int64_t offset;
  };
  std::deque<LogMark> log_marks_;  // for units that are not durable in the log yet
  int64_t log_offset_ = 0;         // the offset that is durable in the log
};

}  // namespace zsetd
