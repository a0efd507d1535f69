#include "server/cluster/bus/node_handshakes.h"

#include <algorithm>
#include <vector>

namespace zsetd {
namespace {

constexpr int64_t kLeastHandshakeTimeout = 1000;

// The address that a node announces, or else the one it is connected from.
const std::string& AddressOf(const LinkTable::Link& link, const BusHeader& header) {
  return header.ip.empty() ? link.peer_ip : header.ip;
}

}  // namespace

std::string NodeHandshakes::RandomId() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id(kNodeIdLength, '0');
  while (id.find_first_not_of('0') == std::string::npos || state_.topology.Find(id) != nullptr) {
    for (char& digit : id) digit = kDigits[state_.rng.Below(kDigits.size())];
  }
  return id;
}

void NodeHandshakes::SetPorts(ClusterNode& node, int64_t first_port, int64_t second_port,
                              int64_t bus_port) const {
  node.port = state_.settings.uses_tls ? second_port : first_port;
  node.tls_port = state_.settings.uses_tls ? first_port : second_port;
  node.bus_port = bus_port;
}

void NodeHandshakes::Start(std::string_view ip, int64_t first_port, int64_t second_port,
                           int64_t bus_port, bool sends_meet) {
  const auto& nodes = state_.topology.nodes();
  const bool is_in_progress = std::ranges::any_of(nodes, [&](const auto& entry) {
    const ClusterNode& node = *entry.second;
    return node.in_handshake && node.ip == ip && node.bus_port == bus_port;
  });
  if (is_in_progress || nodes.size() >= kMostClusterNodes) return;
  ClusterNode& node = state_.topology.FindOrAdd(RandomId());
  node.in_handshake = true;
  node.sends_meet = sends_meet;
  node.created = state_.Now();
  node.ip = ip;
  SetPorts(node, first_port, second_port, bus_port);
}

bool NodeHandshakes::TakeAnswer(LinkTable::Link& link, ClusterNode* known,
                                const BusHeader& header) {
  ClusterNode& node = *link.node;
  if (known != nullptr) {
    if (known != &state_.self()) UpdateAddress(*known, link, header);
    roles_.Remove(node);
    return false;
  }
  if (state_.topology.Find(header.sender) != nullptr) {  // the random name of a handshake
    roles_.Remove(node);
    return false;
  }
  state_.topology.Rename(node, header.sender);
  node.in_handshake = node.sends_meet = false;
  node.is_replica = (header.flags & kBusReplica) != 0;
  state_.has_changed = true;
  state_.SaveLater();
  state_.Notice("Met node " + header.sender);
  return true;
}

bool NodeHandshakes::SetAddress(ClusterNode& node, const std::string& ip, int64_t first_port,
                                int64_t second_port, int64_t bus_port) {
  ClusterNode moved;
  SetPorts(moved, first_port, second_port, bus_port);
  if (ip.empty() || (node.ip == ip && node.port == moved.port && node.tls_port == moved.tls_port &&
                     node.bus_port == moved.bus_port)) {
    return false;
  }
  node.ip = ip;
  SetPorts(node, first_port, second_port, bus_port);
  node.has_no_address = false;
  links_.Close(node.link);
  state_.Notice("The address of node " + NodeText(node) + " is " + ip + ":" +
                std::to_string(first_port) + " now");
  const ClusterNode& self = state_.self();
  if (self.is_replica && self.master_id == node.id) state_.host.FollowMaster(node);
  state_.must_check_state = true;
  state_.SaveLater();
  return true;
}

bool NodeHandshakes::UpdateAddress(ClusterNode& node, const LinkTable::Link& link,
                                   const BusHeader& header) {
  if (link.id == node.link) return false;
  return SetAddress(node, AddressOf(link, header), header.port, header.second_port,
                    header.bus_port);
}

void NodeHandshakes::RemoveExpired() {
  const int64_t timeout = std::max(state_.settings.node_timeout, kLeastHandshakeTimeout);
  const int64_t now = state_.Now();
  std::vector<ClusterNode*> expired;
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (node->in_handshake && now - node->created > timeout) expired.push_back(node.get());
  }
  for (ClusterNode* node : expired) roles_.Remove(*node);
}

}  // namespace zsetd
