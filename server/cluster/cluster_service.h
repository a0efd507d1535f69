#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/cluster/migration/slot_migrations.h"
#include "server/cluster/node_host.h"
#include "server/cluster/nodes_file.h"
#include "server/cluster/topology/topology.h"
#include "server/cluster/topology_views.h"
#include "server/engine/engine.h"
#include "server/engine/services/background_task.h"
#include "server/engine/services/cluster_control.h"

namespace zsetd {

// This server as a node of a cluster: the commands of clients and administrators, the bus that
// exchanges views with the other nodes, and nodes.conf.
//
// Each change by a command is saved before its reply. Clients that wait for keys of a slot that has
// left, and subscribers of its shard channels, are notified by the next Tick().
class ClusterService : public ClusterControl, public BackgroundTask {
 public:
  // The arguments outlive this. Installs itself if the setting cluster-enabled is yes; otherwise it
  // does nothing.
  ClusterService(Engine& engine, NodesStorage& storage, Connector& connector);

  // Must be called before requests run. Loads nodes.conf, or starts a cluster of one node. An error
  // is human-readable. If the settings are refused, nothing is saved.
  absl::Status Load();

  // Must be called after Load(). Listens for other nodes. An error is human-readable.
  absl::Status Listen(PeerPort& peers);

  // Must be called when the server's own data has been loaded. Claims the slots of keys that have
  // no owner, and follows this node's master. An error is human-readable: the data cannot be used
  // in a cluster.
  absl::Status OnLoaded();

  SlotState StateOf(size_t slot) const override;
  bool ServesPlainly(size_t slot) const override { return host_->ServesPlainly(slot); }
  bool IsUp() const override { return host_->bus().IsUp(); }
  std::string OwnerAddress(size_t slot, bool tls) const override;
  std::string TargetAddress(size_t slot, bool tls) const override;
  bool IsReplica() const override { return self().is_replica; }
  std::string Id() const override { return self().id; }
  std::string ShardId() const override { return topology().ShardIdOf(self()); }
  ClusterSummary Summary() const override { return host_->bus().Summary(); }
  std::vector<ClusterNodeView> Nodes() const override { return Views().Nodes(); }
  std::string NodesText(bool tls) const override { return Views().NodesText(tls); }
  absl::StatusOr<std::vector<std::string>> ReplicaLines(std::string_view master_id,
                                                        bool tls) const override;
  ClusterBusStatus BusStatus() const override;
  size_t CountedConnections() const override;
  std::vector<ClusterLinkView> Links() const override;
  absl::StatusOr<size_t> CountFailureReports(std::string_view id) const override;
  void Publish(std::string_view channel, std::string_view message, bool is_shard_channel) override;

  absl::Status CheckSlots(std::span<const SlotRange> ranges, bool adds) const override;
  absl::Status AddSlots(std::span<const SlotRange> ranges) override;
  absl::Status DeleteSlots(std::span<const SlotRange> ranges) override;
  absl::Status FlushSlots() override;
  absl::Status StartMigrating(size_t slot, std::string_view target_id) override;
  absl::Status StartImporting(size_t slot, std::string_view source_id) override;
  absl::Status EndMove(size_t slot) override;
  absl::Status AssignSlot(size_t slot, std::string_view id) override;
  absl::StatusOr<uint64_t> BumpEpoch(bool& has_changed) override;
  absl::Status SetConfigEpoch(int64_t epoch) override;
  absl::Status Meet(std::string_view ip, int64_t port, int64_t bus_port) override;
  absl::Status FailOver(ClusterFailover kind) override;
  absl::Status Forget(std::string_view id) override;
  absl::Status Replicate(std::string_view master_id) override;
  absl::Status Reset(bool hard) override;
  absl::Status Save() override;
  void ApplySettings() override { host_->ApplySettings(); }

  void Tick(Micros budget) override { host_->Tick(budget); }
  bool HasWork() const override { return host_->HasWork(); }
  void EndRound() override { host_->EndRound(); }

 private:
  const Topology& topology() const { return host_->bus().topology(); }
  const ClusterNode& self() const { return topology().self(); }
  ClusterBus& bus() { return host_->bus(); }
  TopologyViews Views() const;
  bool HasKeys() const;
  absl::Status ChangeOwners(std::span<const SlotRange> ranges, const ClusterNode* owner);
  absl::StatusOr<const ClusterNode*> MasterForMove(std::string_view id) const;

  Engine& engine_;
  NodesStorage& storage_;
  std::optional<NodeHost> host_;  // nullopt without cluster mode
  std::vector<Installation> installations_;
  std::optional<SlotMigrations> migrations_;  // nullopt without cluster mode
};

}  // namespace zsetd
