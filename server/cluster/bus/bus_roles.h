#pragma once

#include <cstddef>

#include "server/cluster/bus/bus_state.h"
#include "server/cluster/bus/failure_detector.h"
#include "server/cluster/bus/link_table.h"

namespace zsetd {

// Changes roles, masters and owners of slots, with all that depends on them.
class BusRoles {
 public:
  BusRoles(BusState& state, LinkTable& links, FailureDetector& detector)
      : state_(state), links_(links), detector_(detector) {}

  // Removes a node other than this one, and its links. O(slots + nodes).
  void Remove(ClusterNode& node);

  // Null: no owner. A master whose first slot this is may get replicas of other shards, unless no
  // master has replicas. O(nodes) then, otherwise O(1).
  void SetOwner(size_t slot, ClusterNode* owner);

  // The node loses its slots. O(slots).
  void RemoveSlots(ClusterNode& node);

  void MakeMaster(ClusterNode& node);

  // Another node is a replica of `master`. If it was a master, its slots must have other owners
  // already.
  void MakeReplica(ClusterNode& node, const ClusterNode& master);

  // This node, which has no slots, becomes a replica of `master`, or its replica instead of that of
  // another one.
  void FollowMaster(const ClusterNode& master);

  // Ends a manual failover and the pause of clients, on either side.
  void EndManualFailover();

  // Gives this node the greatest epoch without a vote, and saves it. Returns false if it has the
  // greatest already.
  bool ClaimGreatestEpoch();

  // Gives this node an epoch above all others without a vote, and saves it.
  void ClaimEpoch(uint64_t epoch);

  // The number of replicas of the node that have not failed. O(nodes).
  size_t CountWorkingReplicas(const ClusterNode& master) const;

 private:
  void LeaveMaster(ClusterNode& replica);
  bool HasReplica(const ClusterNode& master) const;

  BusState& state_;
  LinkTable& links_;
  FailureDetector& detector_;
};

}  // namespace zsetd
