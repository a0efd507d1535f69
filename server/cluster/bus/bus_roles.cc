#include "server/cluster/bus/bus_roles.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace zsetd {

void BusRoles::Remove(ClusterNode& node) {
  assert(&node != &state_.self());
  links_.CloseLinksOf(node);
  detector_.Forget(node);
  LeaveMaster(node);
  state_.topology.Remove(node);
  state_.must_check_state = true;
  state_.SaveLater();
}

void BusRoles::SetOwner(size_t slot, ClusterNode* owner) {
  state_.topology.SetOwner(slot, owner);
  state_.withdrawn_slots.reset(slot);
  state_.must_check_state = true;
  state_.SaveLater();
  if (owner == nullptr || owner->slots.size() != 1) return;
  const auto& nodes = state_.topology.nodes();
  owner->accepts_replicas |= std::ranges::any_of(
      nodes, [](const auto& entry) { return !entry.second->master_id.empty(); });
}

void BusRoles::RemoveSlots(ClusterNode& node) {
  const SlotSet slots = node.slots;
  slots.ForEach([&](size_t slot) { SetOwner(slot, nullptr); });
}

bool BusRoles::HasReplica(const ClusterNode& master) const {
  return std::ranges::any_of(state_.topology.nodes(), [&](const auto& entry) {
    return entry.second->master_id == master.id;
  });
}

// A master whose last replica has left by itself is not the target of migrations any more.
void BusRoles::LeaveMaster(ClusterNode& replica) {
  ClusterNode* master = state_.topology.KnownMasterOf(replica);
  replica.master_id.clear();
  if (master != nullptr && !HasReplica(*master)) master->accepts_replicas = false;
}

// The shard keeps its name when one of its replicas becomes the master.
void BusRoles::MakeMaster(ClusterNode& node) {
  if (node.IsMaster()) return;
  node.shard_id = state_.topology.ShardIdOf(node);
  LeaveMaster(node);
  node.is_replica = false;
  if (&node != &state_.self()) node.accepts_replicas = true;
  state_.must_check_state = true;
  state_.SaveLater();
}

void BusRoles::MakeReplica(ClusterNode& node, const ClusterNode& master) {
  assert(&node != &master && !node.HasSlots());
  if (node.is_replica && node.master_id == master.id) return;
  LeaveMaster(node);
  node.is_replica = true;
  node.master_id = master.id;
  node.shard_id = state_.topology.ShardIdOf(master);
  state_.topology.Find(master.id)->accepts_replicas = true;
  state_.must_check_state = true;
  state_.SaveLater();
}

void BusRoles::FollowMaster(const ClusterNode& master) {
  ClusterNode& self = state_.self();
  if (self.IsMaster()) {
    self.accepts_replicas = false;
    state_.topology.EndAllMoves();
  }
  MakeReplica(self, master);
  EndManualFailover();
  state_.host.FollowMaster(master);
}

void BusRoles::EndManualFailover() {
  const ManualFailover ended = std::exchange(state_.manual_failover, ManualFailover());
  if (!ended.replica_id.empty()) state_.host.ResumeWrites();
}

bool BusRoles::ClaimGreatestEpoch() {
  const ClusterNode& self = state_.self();
  const uint64_t greatest = state_.topology.GreatestConfigEpoch();
  if (self.config_epoch != 0 && self.config_epoch == greatest) return false;
  ClaimEpoch(greatest + 1);
  return true;
}

void BusRoles::ClaimEpoch(uint64_t epoch) {
  state_.topology.RaiseConfigEpoch(state_.self(), epoch);
  state_.Notice("This node claims configuration epoch " + std::to_string(epoch) +
                " without a vote");
  state_.SaveSyncedLater();
}

size_t BusRoles::CountWorkingReplicas(const ClusterNode& master) const {
  return static_cast<size_t>(std::ranges::count_if(state_.topology.nodes(), [&](const auto& entry) {
    return entry.second->master_id == master.id && !entry.second->has_failed;
  }));
}

}  // namespace zsetd
