#pragma once

#include <string>
#include <string_view>

#include "server/cluster/bus/cluster_bus.h"
#include "server/cluster/message/bus_message.h"
#include "server/cluster/topology/topology.h"

// A small cluster whose nodes are called by digits, for tests and fuzzers of the bus.

namespace zsetd {

// Returns the name of the node that tests call by this digit.
inline std::string IdOf(char digit) { return std::string(kNodeIdLength, digit); }

// Returns a nodes.conf. Node `own` is the present one. Nodes a, b and c are masters; d is a replica
// of b, and e one of `master_of_e`. Each master has a third of the slots and the epoch 1, 2 or 3.
inline std::string Nodes(std::string_view own = "a", std::string_view b_flags = "master",
                         char master_of_e = 'b') {
  const auto line = [&](char id, const std::string& rest) {
    const bool is_self = own[0] == id;
    return IdOf(id) + " 10.0.0." + std::to_string(id - 'a' + 1) + ":6379@16379 " +
           (is_self ? "myself," : "") + rest + "\n";
  };
  return line('a', "master - 0 0 1 connected 0-4999") +
         line('b', std::string(b_flags) + " - 0 0 2 connected 5000-9999") +
         line('c', "master - 0 0 3 connected 10000-16383") +
         line('d', "slave " + IdOf('b') + " 0 0 2 connected") +
         line('e', "slave " + IdOf(master_of_e) + " 0 0 2 connected") +
         "vars currentEpoch 3 lastVoteEpoch 0\n";
}

// Returns a message with what the node states about itself, as `bus` knows it. An unknown node is
// a master without slots.
inline BusMessage MessageFrom(const ClusterBus& bus, char id, BusMessageType type) {
  BusMessage message;
  BusHeader& header = message.header;
  header.type = type;
  header.sender = IdOf(id);
  header.port = 6379;
  header.bus_port = 16379;
  header.is_up = true;
  header.current_epoch = 3;
  const ClusterNode* node = bus.topology().Find(IdOf(id));
  if (node == nullptr) {
    header.flags = kBusMaster;
    return message;
  }
  const ClusterNode& master = bus.topology().MasterOf(*node);
  header.flags = node->is_replica ? kBusReplica : kBusMaster;
  header.master_id = node->master_id;
  header.config_epoch = master.config_epoch;
  header.slots = master.slots.bytes();
  return message;
}

}  // namespace zsetd
