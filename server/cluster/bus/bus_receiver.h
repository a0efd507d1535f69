#pragma once

#include <string>
#include <string_view>

#include "server/cluster/bus/bus_failover.h"
#include "server/cluster/bus/bus_roles.h"
#include "server/cluster/bus/bus_sender.h"
#include "server/cluster/bus/bus_state.h"
#include "server/cluster/bus/failure_detector.h"
#include "server/cluster/bus/link_table.h"
#include "server/cluster/bus/node_handshakes.h"
#include "server/cluster/bus/slot_claims.h"
#include "server/cluster/bus/slot_grants.h"
#include "server/cluster/bus/votes.h"
#include "server/cluster/message/bus_message.h"

namespace zsetd {

// Takes messages: updates the nodes, answers, and passes each message to the part that it concerns.
class BusReceiver {
 public:
  BusReceiver(BusState& state, LinkTable& links, BusSender& sender, FailureDetector& detector,
              BusRoles& roles, NodeHandshakes& handshakes, SlotClaims& claims, SlotGrants& grants,
              Votes& votes, BusFailover& failover)
      : state_(state),
        links_(links),
        sender_(sender),
        detector_(detector),
        roles_(roles),
        handshakes_(handshakes),
        claims_(claims),
        grants_(grants),
        votes_(votes),
        failover_(failover) {}

  // The link exists; it may be closed afterwards.
  void Take(LinkId link, std::string_view bytes);

 private:
  void TakeHeader(ClusterNode& sender, const BusHeader& header);
  void TakePing(LinkId link, ClusterNode* sender, const BusMessage& message);
  bool TakeAnswer(LinkTable::Link& link, ClusterNode* sender, const BusHeader& header);
  void TakeRole(ClusterNode& sender, const BusHeader& header);
  void TurnIntoReplica(ClusterNode& sender, ClusterNode* master, const BusHeader& header);
  void TakeSlots(ClusterNode& sender, const BusHeader& header);
  void TakeGossip(const ClusterNode& sender, const BusGossip& gossip);
  void AddNode(const BusGossip& gossip);
  void MoveNode(ClusterNode& node, const BusGossip& gossip);
  void TakeExtensions(ClusterNode& sender, const BusExtensions& extensions);
  void ForgetNode(const ClusterNode& sender, const BusForgottenNode& forgotten);
  void TakeUpdate(const BusMessage& message);

  BusState& state_;
  LinkTable& links_;
  BusSender& sender_;
  FailureDetector& detector_;
  BusRoles& roles_;
  NodeHandshakes& handshakes_;
  SlotClaims& claims_;
  SlotGrants& grants_;
  Votes& votes_;
  BusFailover& failover_;
};

}  // namespace zsetd
