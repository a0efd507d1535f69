#pragma once

#include "server/cluster/bus/bus_roles.h"
#include "server/cluster/bus/bus_state.h"

namespace zsetd {

// Moves this replica to a master without working replicas, if its own master can spare it. All
// replicas decide alike: the one with the smallest name, of the masters with the most replicas,
// moves.
class ReplicaMigration {
 public:
  ReplicaMigration(BusState& state, BusRoles& roles) : state_(state), roles_(roles) {}

  // Must be called by each tick. O(nodes).
  void Check();

 private:
  BusState& state_;
  BusRoles& roles_;
};

}  // namespace zsetd
