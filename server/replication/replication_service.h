#pragma once

#include <string>
#include <vector>

#include "server/engine/engine.h"
#include "server/engine/replication.h"
#include "server/engine/support/connector.h"
#include "server/persistence/persistence_service.h"
#include "server/replication/follower.h"

namespace zsetd {

// What the server is to other servers: the replica of one, and the master of some.
class ReplicationService : public Replication, private Follower::Listener {
 public:
  // All of them outlive it.
  ReplicationService(Engine& engine, PersistenceService& persistence, Connector& connector,
                     const ReplicationLog& log);
  ~ReplicationService() override;

  // When the server's own data has been loaded: takes the place in a history that it was saved at.
  void OnLoaded();

  void Follow(std::string host, int64_t port) override;
  void Promote() override;
  MasterLinkStatus master_link() const override { return follower_.status(); }

  ReplicaOptions& OptionsOf(Client& client) override;
  absl::Status Synchronize(Client& client, const StreamPosition& from) override;
  absl::Status SynchronizeByOldProtocol(Client& client) override;
  void Acknowledge(Client& client, int64_t offset, std::optional<int64_t> log_offset) override;
  void AskForAcknowledgements() override {}
  int64_t CountAcknowledged(int64_t) const override { return 0; }
  int64_t CountLogged(int64_t) const override { return 0; }
  std::vector<ReplicaStatus> replicas() const override { return {}; }
  StreamStatus stream() const override { return {}; }
  std::string_view failover_state() const override { return "no-failover"; }
  absl::Status StartFailover(const FailoverRequest& request) override;
  absl::Status AbortFailover() override;
  void OnLeave(Client&) override {}
  void EndRound() override {}
  void Apply(const Settings&) override {}
  void Tick() override { follower_.Tick(); }
  bool HasWork() const override { return follower_.HasWork(); }

 private:
  void OnNewHistory() override {}
  void OnNewId() override {}
  void BecomeReplica();
  void UnblockClients();

  Engine& engine_;
  PersistenceService& persistence_;
  const ReplicationLog log_;
  Follower follower_;
  ReplicaOptions options_;
};

}  // namespace zsetd
