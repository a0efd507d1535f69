#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/engine/engine.h"
#include "server/engine/replication.h"
#include "server/engine/support/connector.h"
#include "server/engine/support/server_log.h"
#include "server/persistence/persistence_service.h"
#include "server/replication/failover.h"
#include "server/replication/follower.h"
#include "server/replication/replicas.h"

namespace zsetd {

// The roles of the server: the replica of one server, and the master of others. All of them share
// one history.
class ReplicationService : public Replication, private Follower::Listener {
 public:
  // All arguments outlive it, and all posted calls have ended when it is destroyed.
  ReplicationService(Engine& engine, PersistenceService& persistence, FileSystem& files,
                     Connector& connector, const ServerLog& log, Replicas::Post post);
  ~ReplicationService() override;

  // When the server's own data has been loaded: takes the place in a history that it was saved at.
  void OnLoaded();

  void Follow(std::string host, int64_t port, std::string_view request) override;
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
  void OnLeave(Client& client) override { replicas_.OnLeave(client); }
  void EndRound() override { replicas_.EndRound(); }
  void Tick() override;
  bool HasWork() const override { return replicas_.HasWork() || follower_.HasWork(); }

 private:
  void BeforeNewHistory() override { replicas_.DisconnectAll(); }
  void OnNewHistory() override;
  void OnNewId() override;

  struct NextMaster {
    MasterAddress address;
    bool takes_over;
  };

  void Follow(const MasterAddress& master, bool takes_over);
  void JoinNextMaster();
  void LeaveMaster();
  void SetRole(bool is_replica);
  void BecomeReplica();
  void NameMaster(std::string text);
  void UnblockClients();

  Engine& engine_;
  PersistenceService& persistence_;
  const ServerLog log_;
  Replicas replicas_;
  Follower follower_;
  Failover failover_;
  std::optional<NextMaster> next_master_;  // to be joined when the running transaction has ended
};

}  // namespace zsetd
