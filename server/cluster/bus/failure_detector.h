#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "server/cluster/bus/bus_sender.h"
#include "server/cluster/bus/bus_state.h"

namespace zsetd {

// Decides which nodes have failed. A node that does not answer for the node timeout may have failed
// ("fail?"). It has failed ("fail") if most masters with slots report that within twice the node
// timeout. Reports come by gossip; the decision is broadcast.
class FailureDetector {
 public:
  FailureDetector(BusState& state, BusSender& sender) : state_(state), sender_(sender) {}

  // This node has no answer from `node` for the node timeout.
  void Suspect(ClusterNode& node);

  // A member of the majority reports that `node` may have failed or has failed, or that it has not.
  void TakeReport(ClusterNode& node, const ClusterNode& reporter);
  void WithdrawReport(const ClusterNode& node, const ClusterNode& reporter);

  // The valid reports about a node. O(log nodes + reports).
  size_t CountReports(const ClusterNode& node);

  // `node` has failed, by the decision of another node.
  void AcceptFailure(ClusterNode& node);

  // `node` has answered. A master with slots stays failed for twice the node timeout, so that its
  // replicas can replace it.
  void Answered(ClusterNode& node);

  // Removes the reports about a node and those by it.
  void Forget(const ClusterNode& node);

 private:
  using Reports = std::map<const ClusterNode*, int64_t>;  // by their reporters; when they came

  void FailIfAgreed(ClusterNode& node);
  void MarkFailed(ClusterNode& node);

  BusState& state_;
  BusSender& sender_;
  std::map<const ClusterNode*, Reports> reports_;
};

}  // namespace zsetd
