#pragma once

#include <cstdint>

#include "server/cluster/bus/bus_roles.h"
#include "server/cluster/bus/bus_sender.h"
#include "server/cluster/bus/bus_state.h"
#include "server/cluster/topology/slot_set.h"

namespace zsetd {

// Decides between nodes that claim the same slots: the greater configuration epoch wins.
class SlotClaims {
 public:
  SlotClaims(BusState& state, BusRoles& roles, BusSender& sender)
      : state_(state), roles_(roles), sender_(sender) {}

  // A master claims these slots in an epoch. Each slot whose owner has a smaller epoch, or none,
  // becomes its. If this node's shard loses its last slot that way, this node becomes a replica of
  // the claimant. O(SlotSet::kBytes + changed slots).
  //
  // Only the loss of a slot whose keys this node must delete requests a sync; otherwise a new epoch
  // does (BusReceiver). A restart without the new owner of a slot is like a message that is late.
  void Take(ClusterNode& claimant, uint64_t epoch, const SlotSet::Bytes& slots);

  // Sends UPDATE to a node that claims a slot whose owner has a greater epoch.
  void Correct(const ClusterNode& claimant, uint64_t epoch, const SlotSet::Bytes& slots);

  // The claimant, a master, has this node's epoch. The node with the smaller name takes a new one.
  void ResolveCollision(const ClusterNode& claimant);

 private:
  bool MayTake(size_t slot, uint64_t epoch) const;
  void FollowSource(size_t slot, const ClusterNode& source, ClusterNode& claimant, uint64_t epoch);
  void NoteWithdrawals(const ClusterNode& owner, const SlotSet& claimed);
  void FollowNewOwner(const ClusterNode& claimant);
  void LeaveSubReplica();

  BusState& state_;
  BusRoles& roles_;
  BusSender& sender_;
};

}  // namespace zsetd
