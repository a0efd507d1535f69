#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/cluster/bus/bus_roles.h"
#include "server/cluster/bus/bus_state.h"
#include "server/cluster/bus/link_table.h"
#include "server/cluster/message/bus_message.h"

namespace zsetd {

// Meets nodes, and keeps their addresses. A node that is met has a random name until it answers on
// the link that this node has opened: its address alone does not show which node it is.
//
//   A: MEET ──────────────> B     A has added B by its address, B now adds A
//   A: <─────────────── PONG B    A has B's name
//   A: <─────────────── PING B    on a link of its own, and A's PONG has A's name for B
class NodeHandshakes {
 public:
  NodeHandshakes(BusState& state, LinkTable& links, BusRoles& roles)
      : state_(state), links_(links), roles_(roles) {}

  // Adds a node with a random name. `sends_meet`: the node may not know this one. A node with that
  // address that is being met is not added again.
  void Start(std::string_view ip, int64_t first_port, int64_t second_port, int64_t bus_port,
             bool sends_meet);

  // The node of this link, a node of a handshake, has answered. If `known` is the node with that
  // name, the handshake was not needed and ends. Returns whether the node of the link still exists.
  bool TakeAnswer(LinkTable::Link& link, ClusterNode* known, const BusHeader& header);

  // A node has sent a message on a link of its own: takes over its address. Returns like
  // SetAddress().
  bool UpdateAddress(ClusterNode& node, const LinkTable::Link& link, const BusHeader& header);

  // Takes over a node's address and closes the link to the old one. Returns false if nothing has
  // changed, or if the address is empty.
  bool SetAddress(ClusterNode& node, const std::string& ip, int64_t first_port, int64_t second_port,
                  int64_t bus_port);

  // Sets the ports of a message.
  void SetPorts(ClusterNode& node, int64_t first_port, int64_t second_port, int64_t bus_port) const;

  // Removes the nodes that have not answered for the node timeout, a second at least.
  void RemoveExpired();

  // A name of 40 random digits.
  std::string RandomId();

 private:
  BusState& state_;
  LinkTable& links_;
  BusRoles& roles_;
};

}  // namespace zsetd
