#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/hashing/key_slot.h"
#include "server/cluster/topology/cluster_node.h"
#include "server/cluster/topology/slot_set.h"
#include "server/engine/services/cluster_control.h"

namespace zsetd {

// The consent of this node to a takeover of some of its slots (bus/slot_grants.h).
struct SlotGrant {
  uint64_t epoch = 0;     // with which the target takes them
  int64_t millis = 0;     // for which the target may take them; longer than the target knows
  std::string target_id;  // of a node that may have been forgotten
  SlotSet slots;
};

// The nodes of a cluster and the owners of its slots, as one node knows them.
//
// Invariants: one of the nodes is this node; a slot has at most one owner, which is one of the
// nodes and has the slot in its `slots`; only a slot of this node migrates, and only one of another
// node is imported.
class Topology {
 public:
  using Nodes = std::map<std::string, std::unique_ptr<ClusterNode>, std::less<>>;
  using Moves = std::map<uint16_t, const ClusterNode*>;

  // A cluster that consists of this node.
  explicit Topology(const std::string& own_id);
  Topology(Topology&&) = default;
  Topology& operator=(Topology&&) = default;

  ClusterNode& self() { return *self_; }
  const ClusterNode& self() const { return *self_; }
  const Nodes& nodes() const { return nodes_; }

  // The node, or null. O(log nodes).
  const ClusterNode* Find(std::string_view id) const;
  ClusterNode* Find(std::string_view id);

  // The node, which is created if it is unknown.
  ClusterNode& FindOrAdd(std::string_view id);

  // Makes a known node the node that this process is. For a reader of nodes.conf.
  void SetSelf(ClusterNode& node) { self_ = &node; }

  // Removes a node other than this one. Its slots have no owner afterwards. O(slots).
  void Remove(const ClusterNode& node);

  // Gives a node another name. No node has the new name.
  void Rename(ClusterNode& node, const std::string& id);

  const ClusterNode* OwnerOf(size_t slot) const { return owners_[slot]; }
  ClusterNode* OwnerOf(size_t slot) { return owners_[slot]; }

  // Changes the owner; null: none. A move of the slot that the change completes or contradicts
  // ends.
  void SetOwner(size_t slot, ClusterNode* owner);

  const Moves& migrating() const { return migrating_; }  // to these nodes
  const Moves& importing() const { return importing_; }  // from these nodes
  void StartMigrating(size_t slot, const ClusterNode& target);
  void StartImporting(size_t slot, const ClusterNode& source);
  void EndMove(size_t slot);
  void EndAllMoves();

  // The slots of each owner. O(owners * SlotSet::kBytes).
  std::map<const ClusterNode*, std::vector<SlotRange>> Ranges() const;

  // The master of the node's shard: itself, or its master if that is known.
  const ClusterNode& MasterOf(const ClusterNode& node) const;

  // The master of a replica; null if the node is a master, or its master is unknown.
  ClusterNode* KnownMasterOf(const ClusterNode& node);
  const ClusterNode* KnownMasterOf(const ClusterNode& node) const;

  // The name of the node's shard. All nodes of a shard have the same: that of their master's shard,
  // or the master's own name if none is known.
  std::string ShardIdOf(const ClusterNode& node) const;

  // The slots of other nodes whose keys this node must delete, also after a restart
  // (migration/slot_eraser.h).
  SlotSet slots_to_clear;

  // The grant that has neither been used nor outbid.
  std::optional<SlotGrant> grant;

  // The greatest epoch of the cluster, and the epoch of the last vote.
  uint64_t current_epoch = 0;
  uint64_t last_vote_epoch = 0;

  // The greatest of all epochs. O(nodes).
  uint64_t GreatestConfigEpoch() const;

  // Raises the node's config epoch to at least `epoch`, and the current epoch with it, whatever a
  // message contains. A later election would repeat a config epoch above the current epoch, and
  // nodes.conf would change when it is read.
  void RaiseConfigEpoch(ClusterNode& node, uint64_t epoch);

 private:
  Nodes nodes_;
  ClusterNode* self_;
  std::vector<ClusterNode*> owners_ = std::vector<ClusterNode*>(kSlotCount);
  Moves migrating_;
  Moves importing_;
};

// The slots as the fewest ranges, in ascending order.
std::vector<SlotRange> RangesOf(const SlotSet& slots);

}  // namespace zsetd
