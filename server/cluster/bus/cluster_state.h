#pragma once

#include <cstdint>
#include <optional>

#include "server/cluster/bus/bus_state.h"

namespace zsetd {

// Decides whether the cluster is able to serve: all slots have owners that have not failed, unless
// cluster-require-full-coverage is no, and most masters with slots are reachable.
//
// A master that comes back waits before it serves again, so that it receives the claims of a
// replica that has replaced it: for two seconds after a start, and for the node timeout (between
// half a second and five seconds) after it was in a minority. The time before it knows an owner of
// any slot does not count as a minority: no replica can have replaced it. So a new cluster serves
// as soon as its nodes know each other.
class ClusterState {
 public:
  explicit ClusterState(BusState& state) : state_(state) {}

  // O(nodes).
  void Check();

 private:
  BusState& state_;
  std::optional<int64_t> first_check_;
  int64_t last_minority_ = 0;  // the last check that reached no majority of known masters; 0: none
};

}  // namespace zsetd
