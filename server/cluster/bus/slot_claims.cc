#include "server/cluster/bus/slot_claims.h"

#include <string>
#include <vector>

namespace zsetd {

bool SlotClaims::MayTake(size_t slot, uint64_t epoch) const {
  const ClusterNode* owner = state_.topology.OwnerOf(slot);
  return owner == nullptr || state_.withdrawn_slots[slot] || owner->config_epoch < epoch;
}

void SlotClaims::Take(ClusterNode& claimant, uint64_t epoch, const SlotSet::Bytes& slots) {
  if (&claimant == &state_.self()) return;
  Topology& topology = state_.topology;
  const ClusterNode* const own_master = &topology.MasterOf(state_.self());
  const SlotSet claimed(slots);
  NoteWithdrawals(claimant, claimed);
  size_t taken_from_own = 0;
  std::vector<size_t> with_keys;  // this node's slots that it loses without having moved their keys
  (claimed - claimant.slots).ForEach([&](size_t slot) {
    const ClusterNode* owner = topology.OwnerOf(slot);
    const auto import = topology.importing().find(static_cast<uint16_t>(slot));
    if (import != topology.importing().end()) {
      FollowSource(slot, *import->second, claimant, epoch);
      return;
    }
    if (!MayTake(slot, epoch)) return;
    if (owner == &state_.self() && state_.host.HasKeysIn(slot)) with_keys.push_back(slot);
    if (owner == own_master) ++taken_from_own;
    roles_.SetOwner(slot, &claimant);
  });
  if (!with_keys.empty()) state_.SaveSyncedLater();  // before the keys are deleted
  const bool shard_is_empty = taken_from_own > 0 && !own_master->HasSlots();
  const bool took_whole_shard = taken_from_own == claimed.size();
  if (shard_is_empty && (state_.settings.allow_replica_migration || took_whole_shard)) {
    return FollowNewOwner(claimant);
  }
  for (const size_t slot : with_keys) state_.host.DeleteKeysIn(slot);
  LeaveSubReplica();
}

// An administrator ends an import; until then the epochs do not decide. But a replica of the source
// may replace it.
void SlotClaims::FollowSource(size_t slot, const ClusterNode& source, ClusterNode& claimant,
                              uint64_t epoch) {
  Topology& topology = state_.topology;
  const bool is_of_shard = topology.ShardIdOf(claimant) == topology.ShardIdOf(source);
  if (!is_of_shard || topology.OwnerOf(slot) != &source || !MayTake(slot, epoch)) return;
  roles_.SetOwner(slot, &claimant);
  topology.StartImporting(slot, claimant);
}

// An owner may lose a slot before its new one is known: the slot is its own until another node
// claims it.
void SlotClaims::NoteWithdrawals(const ClusterNode& owner, const SlotSet& claimed) {
  if (state_.withdrawn_slots.any()) {
    claimed.ForEach([&](size_t slot) {
      if (owner.slots.Contains(slot)) state_.withdrawn_slots.reset(slot);
    });
  }
  (owner.slots - claimed).ForEach([&](size_t slot) { state_.withdrawn_slots.set(slot); });
}

void SlotClaims::FollowNewOwner(const ClusterNode& claimant) {
  state_.Notice("Another node serves all slots of this shard. Becoming a replica of " +
                NodeText(claimant));
  roles_.FollowMaster(claimant);
  state_.SaveSyncedLater();
}

// The master of this replica has become a replica itself. After a takeover its master may be this
// node; then an administrator must decide.
void SlotClaims::LeaveSubReplica() {
  const ClusterNode* master = state_.topology.KnownMasterOf(state_.self());
  if (master == nullptr) return;
  const ClusterNode* masters_master = state_.topology.KnownMasterOf(*master);
  if (masters_master == nullptr || masters_master == &state_.self()) return;
  state_.Notice("The master of this replica is a replica now. Becoming a replica of its master " +
                NodeText(*masters_master));
  roles_.FollowMaster(*masters_master);
  state_.SaveSyncedLater();
}

void SlotClaims::Correct(const ClusterNode& claimant, uint64_t epoch, const SlotSet::Bytes& slots) {
  const SlotSet claimed(slots);
  const ClusterNode* rightful = nullptr;
  (claimed - claimant.slots).ForEach([&](size_t slot) {
    const ClusterNode* owner = state_.topology.OwnerOf(slot);
    if (rightful != nullptr || owner == nullptr) return;
    if (owner->config_epoch > epoch) rightful = owner;
  });
  if (rightful != nullptr) sender_.SendUpdate(claimant, *rightful);
}

// All nodes decide alike without a vote. Epochs collide if administrators claim them on several
// nodes at the same time.
void SlotClaims::ResolveCollision(const ClusterNode& claimant) {
  ClusterNode& self = state_.self();
  if (!claimant.IsMaster() || !self.IsMaster()) return;
  if (claimant.config_epoch != self.config_epoch || claimant.id <= self.id) return;
  ++state_.topology.current_epoch;
  self.config_epoch = state_.topology.current_epoch;
  (void)state_.SaveNow();
  state_.Notice("Node " + NodeText(claimant) + " has the same configuration epoch. Taking epoch " +
                std::to_string(self.config_epoch));
}

}  // namespace zsetd
