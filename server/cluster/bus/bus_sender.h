#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/cluster/bus/bus_state.h"
#include "server/cluster/bus/link_table.h"
#include "server/cluster/message/bus_message.h"

namespace zsetd {

// Composes the messages of this node and sends them.
class BusSender {
 public:
  BusSender(BusState& state, LinkTable& links) : state_(state), links_(links) {}

  // Sends a PING, PONG or MEET with gossip about max(3, nodes / 10) random nodes and about all that
  // may have failed. After a PING a pong of the node is pending. O(nodes).
  void SendPing(const LinkTable::Link& link, BusMessageType type);
  void SendPing(ClusterNode& node);

  // A PONG that answers no PING announces a change.
  enum class Audience { kAll, kReplicasOfOwnShard };
  void BroadcastPong(Audience audience);

  // Sends a message without a body.
  void SendPlain(const ClusterNode& node, BusMessageType type);

  // AUTH_REQUEST to all nodes.
  void RequestVotes();

  // FAIL to all nodes.
  void BroadcastFailure(const ClusterNode& failed);

  // UPDATE about the slots of `owner`.
  void SendUpdate(const ClusterNode& receiver, const ClusterNode& owner);

  // PUBLISH to all nodes, or PUBLISHSHARD to those of the own shard.
  void Publish(std::string_view channel, std::string_view payload, bool is_shard_channel);

 private:
  BusHeader Header(BusMessageType type) const;
  BusGossip GossipAbout(const ClusterNode& node) const;
  std::vector<BusGossip> ChooseGossip(const ClusterNode* receiver) const;
  BusExtensions Extensions() const;
  void Broadcast(const BusMessage& message);

  BusState& state_;
  LinkTable& links_;
};

// The flags of a node as messages contain them.
uint16_t BusFlagsOf(const ClusterNode& node);

}  // namespace zsetd
