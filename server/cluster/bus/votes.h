#pragma once

#include "server/cluster/bus/bus_sender.h"
#include "server/cluster/bus/bus_state.h"
#include "server/cluster/message/bus_message.h"

namespace zsetd {

// The votes of this node, a master with slots, for replicas that want to replace their masters.
class Votes {
 public:
  Votes(BusState& state, BusSender& sender) : state_(state), sender_(sender) {}

  // Votes for the candidate if the rules allow it:
  // - this node has not voted in the present epoch, which the request names;
  // - the candidate's master has failed, or has agreed to a manual failover;
  // - this node has not voted for a replica of that master within twice the node timeout;
  // - no claimed slot has an owner with a greater epoch than the candidate's master.
  // The vote is saved and synced before it is sent. If it cannot be saved, it is not sent, and
  // counts as given.
  void TakeRequest(const ClusterNode& candidate, const BusHeader& request);

 private:
  // Returns the reason against a vote; empty if the rules allow it.
  std::string ReasonAgainst(const ClusterNode& candidate, const BusHeader& request) const;

  BusState& state_;
  BusSender& sender_;
};

}  // namespace zsetd
