#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/cluster/nodes_file.h"
#include "server/cluster/topology/topology.h"
#include "server/engine/engine.h"
#include "server/engine/services/background_task.h"
#include "server/engine/services/cluster_control.h"

namespace zsetd {

// This server as a node of a cluster with a static topology: nodes.conf and the commands of
// administrators state the nodes and the owners of slots. There is no bus, so the nodes neither
// exchange their views nor detect failures.
//
// Each change is saved before the reply of its command. Clients that wait for keys of a slot that
// has left, and subscribers of its shard channels, are notified by the next Tick().
class ClusterService : public ClusterControl, public BackgroundTask {
 public:
  // The arguments outlive this. Installs itself if the setting cluster-enabled is yes; otherwise it
  // does nothing.
  ClusterService(Engine& engine, NodesStorage& storage);

  // Must be called before requests run. Loads nodes.conf, or starts a cluster of one node. An error
  // is human-readable.
  absl::Status Load();

  // Must be called when the server's own data has been loaded. Claims the slots of keys that have
  // no owner, and follows this node's master. An error is human-readable: the data cannot be used
  // in a cluster.
  absl::Status OnLoaded();

  SlotState StateOf(size_t slot) const override;
  bool IsUp() const override;
  std::string OwnerAddress(size_t slot, bool tls) const override;
  std::string TargetAddress(size_t slot, bool tls) const override;
  bool IsReplica() const override { return topology_->self().is_replica; }
  std::string Id() const override { return topology_->self().id; }
  std::string ShardId() const override { return topology_->ShardIdOf(topology_->self()); }
  ClusterSummary Summary() const override;
  std::vector<ClusterNodeView> Nodes() const override;
  std::string NodesText(bool tls) const override;
  absl::StatusOr<std::vector<std::string>> ReplicaLines(std::string_view master_id,
                                                        bool tls) const override;
  bool KnowsNode(std::string_view id) const override { return topology_->Find(id) != nullptr; }

  absl::Status AddSlots(std::span<const SlotRange> ranges) override;
  absl::Status DeleteSlots(std::span<const SlotRange> ranges) override;
  absl::Status FlushSlots() override;
  absl::Status StartMigrating(size_t slot, std::string_view target_id) override;
  absl::Status StartImporting(size_t slot, std::string_view source_id) override;
  absl::Status EndMove(size_t slot) override;
  absl::Status AssignSlot(size_t slot, std::string_view id) override;
  absl::StatusOr<uint64_t> BumpEpoch(bool& has_changed) override;
  absl::Status SetConfigEpoch(int64_t epoch) override;
  absl::Status Forget(std::string_view id) override;
  absl::Status Replicate(std::string_view master_id) override;
  absl::Status Reset(bool hard) override;
  absl::Status Save() override;
  void ApplySettings() override { UpdateSelf(); }

  // Ends waits and subscriptions of slots that have left.
  void Tick(Micros budget) override;
  bool HasWork() const override { return slots_have_left_; }

 private:
  void UpdateSelf();
  void UpdateSummary();
  absl::Status ApplyChange();
  bool HasKeysIn(size_t slot) const;
  bool HasKeys() const;
  void SetOwner(size_t slot, ClusterNode* owner);
  bool ClaimGreatestEpoch();
  absl::StatusOr<ClusterNode*> MasterForMove(std::string_view id);
  int64_t PortOf(const ClusterNode& node, bool tls) const;
  std::string AddressOf(const ClusterNode& node, bool tls) const;
  std::string EndpointOf(const ClusterNode& node) const;
  ClusterNodeView ViewOf(const ClusterNode& node) const;
  void FollowMaster();
  void EndShardSubscriptions();

  Engine& engine_;
  NodesStorage& storage_;
  std::optional<Topology> topology_;
  ClusterSummary summary_;  // of topology_
  bool slots_have_left_ = false;
  std::vector<Installation> installations_;
};

}  // namespace zsetd
