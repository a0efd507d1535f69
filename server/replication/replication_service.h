#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/engine/engine.h"
#include "server/engine/services/background_task.h"
#include "server/engine/services/master_control.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/support/connector.h"
#include "server/engine/support/log.h"
#include "server/persistence/persistence_service.h"
#include "server/replication/failover.h"
#include "server/replication/follower.h"
#include "server/replication/replicas.h"

namespace zsetd {

// The server's roles in replication: a replica of one master, and a master of its own replicas. All
// these servers share one history.
class ReplicationService : public MasterControl,
                           public ReplicaRegistry,
                           public BackgroundTask,
                           private Follower::Listener {
 public:
  // The arguments outlive this. When it is destroyed, all posted calls have ended.
  ReplicationService(Engine& engine, PersistenceService& persistence, FileSystem& files,
                     Connector& connector, const Log& log, Replicas::Post post);

  // Must be called when the server's own data has been loaded. Resumes the history at the place
  // that was saved with the data.
  void OnLoaded();

  absl::Status Follow(std::string host, int64_t port, std::string_view request) override;
  void Promote(std::string_view request) override;
  MasterLinkStatus master_link() const override { return follower_.status(); }
  void CloseMasterLink() override { follower_.CloseLink(); }

  ReplicaOptions& OptionsOf(Client& client) override { return replicas_.OptionsOf(client); }
  absl::Status Synchronize(Client& client, const StreamPosition& from) override {
    return replicas_.Synchronize(client, from);
  }
  absl::Status SynchronizeByOldProtocol(Client& client) override {
    return replicas_.SynchronizeByOldProtocol(client);
  }
  void Acknowledge(Client& client, int64_t offset, std::optional<int64_t> log_offset) override {
    replicas_.Acknowledge(client, offset, log_offset);
  }
  void AskForAcknowledgements() override { replicas_.AskForAcknowledgements(); }
  int64_t CountAcknowledged(int64_t offset) const override {
    return replicas_.CountAcknowledged(offset);
  }
  int64_t CountLogged(int64_t offset) const override { return replicas_.CountLogged(offset); }
  int64_t last_change() const override { return replicas_.last_change(); }
  ReplicaProgress ProgressTo(int64_t offset) const override { return replicas_.ProgressTo(offset); }
  std::vector<ReplicaStatus> replicas() const override { return replicas_.Status(); }
  StreamStatus stream() const override { return replicas_.stream(); }
  void ResetStats() override;
  std::string_view failover_state() const override { return failover_.state(); }
  absl::Status StartFailover(const FailoverRequest& request) override {
    return failover_.Start(request);
  }
  absl::Status AbortFailover() override;
  void Tick(Micros budget) override;
  bool HasWork() const override { return replicas_.HasWork() || follower_.HasWork(); }
  void EndRound() override;
  void OnLeave(Client& client) override { replicas_.OnLeave(client); }

 private:
  void BeforeNewHistory() override { replicas_.DisconnectAll(); }
  void OnNewHistory() override;
  void OnNewId() override;

  struct NextMaster {
    MasterAddress address;
    bool takes_over;
  };

  void Follow(const MasterAddress& master, bool takes_over);
  void TransferRole(const MasterAddress& target);
  void AdvanceFailover();
  void JoinNextMaster();
  void LeaveMaster();
  void SetRole(bool is_replica);
  void BecomeReplica();
  void NameMaster(std::string text);
  void UnblockClients();

  Engine& engine_;
  PersistenceService& persistence_;
  const Log& log_;
  Replicas replicas_;
  Follower follower_;
  Failover failover_;
  std::optional<NextMaster> next_master_;  // the master to join after the running unit
  const Installation master_control_;
  const Installation replica_registry_;
  const Installation task_;
};

}  // namespace zsetd
