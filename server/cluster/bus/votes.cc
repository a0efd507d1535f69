#include "server/cluster/bus/votes.h"

#include <string>

namespace zsetd {
namespace {

constexpr int64_t kVoteInterval = 2;  // node timeouts between votes for replicas of one master

}  // namespace

std::string Votes::ReasonAgainst(const ClusterNode& candidate, const BusHeader& request) const {
  const Topology& topology = state_.topology;
  if (request.current_epoch < topology.current_epoch) {
    return "its epoch " + std::to_string(request.current_epoch) + " is older than " +
           std::to_string(topology.current_epoch);
  }
  if (topology.last_vote_epoch == topology.current_epoch) {
    return "this node has voted in epoch " + std::to_string(topology.current_epoch);
  }
  if (candidate.IsMaster()) return "it is a master";
  const ClusterNode* master = topology.KnownMasterOf(candidate);
  if (master == nullptr) return "its master is unknown";
  if (!master->has_failed && !request.forces_vote) return "its master has not failed";
  const int64_t interval = state_.settings.node_timeout * kVoteInterval;
  if (master->voted_time != 0 && state_.Now() - master->voted_time < interval) {
    return "this node has just voted for a replica of the same master";
  }
  std::string reason;
  SlotSet(request.slots).ForEach([&](size_t slot) {
    const ClusterNode* owner = topology.OwnerOf(slot);
    if (!reason.empty() || owner == nullptr || state_.withdrawn_slots[slot]) return;
    if (owner->config_epoch <= request.config_epoch) return;
    reason = "slot " + std::to_string(slot) + " has an owner with the greater epoch " +
             std::to_string(owner->config_epoch);
  });
  return reason;
}

void Votes::TakeRequest(const ClusterNode& candidate, const BusHeader& request) {
  if (!state_.Votes(state_.self())) return;
  const std::string reason = ReasonAgainst(candidate, request);
  if (!reason.empty()) {
    state_.Notice("No vote for node " + NodeText(candidate) + ": " + reason);
    return;
  }
  Topology& topology = state_.topology;
  topology.last_vote_epoch = topology.current_epoch;
  if (!state_.SaveNow().ok()) {
    state_.Warning("No vote for node " + NodeText(candidate) + ": it cannot be saved");
    return;
  }
  topology.KnownMasterOf(candidate)->voted_time = state_.Now();
  sender_.SendPlain(candidate, BusMessageType::kAuthAck);
  state_.Notice("Voted for node " + NodeText(candidate) + " in epoch " +
                std::to_string(topology.current_epoch));
}

}  // namespace zsetd
