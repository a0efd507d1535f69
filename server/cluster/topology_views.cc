#include "server/cluster/topology_views.h"

#include <algorithm>
#include <span>
#include <utility>

#include "server/cluster/topology/nodes_text.h"

namespace zsetd {
namespace {

int64_t ClientPortOf(const ClusterNode& node, bool tls) {
  const int64_t wanted = tls ? node.tls_port : node.port;
  return wanted != 0 ? wanted : std::max(node.port, node.tls_port);
}

}  // namespace

std::string TopologyViews::EndpointOf(const ClusterNode& node) const {
  switch (settings_.cluster_preferred_endpoint_type) {
    case ClusterEndpointType::kHostname:
      return node.hostname.empty() ? "?" : node.hostname;
    case ClusterEndpointType::kUnknownEndpoint:
      return "";
    default:
      return node.ip;
  }
}

std::string TopologyViews::AddressOf(const ClusterNode& node, bool tls) const {
  return EndpointOf(node) + ":" + std::to_string(ClientPortOf(node, tls));
}

ClusterNodeView TopologyViews::ViewOf(const ClusterNode& node) const {
  const ClusterEndpointType type = settings_.cluster_preferred_endpoint_type;
  const bool is_self = &node == &topology_.self();
  return {
      .id = node.id,
      .shard_id = topology_.ShardIdOf(node),
      .ip = node.ip,
      .hostname = node.hostname,
      .endpoint = EndpointOf(node),
      .endpoint_is_known = type != ClusterEndpointType::kUnknownEndpoint,
      .port = node.port,
      .tls_port = node.tls_port,
      .is_self = is_self,
      .is_replica = node.is_replica,
      .has_failed = node.has_failed,
      .replication_offset = static_cast<uint64_t>(is_self ? own_offset_ : node.replication_offset),
      .master_id = node.master_id,
      .ranges = {}};
}

std::vector<ClusterNodeView> TopologyViews::Nodes() const {
  std::vector<ClusterNodeView> views;
  auto ranges = topology_.Ranges();
  for (const auto& [id, node] : topology_.nodes()) {
    if (node->in_handshake) continue;  // its name is not its own yet
    views.push_back(ViewOf(*node));
    const auto found = ranges.find(node.get());
    if (found != ranges.end()) views.back().ranges = std::move(found->second);
  }
  return views;
}

std::string TopologyViews::NodesText(bool tls) const {
  std::string text;
  for (const auto& [id, node] : topology_.nodes()) {
    text += NodeLine(topology_, *node, RangesOf(node->slots), ClientPortOf(*node, tls)) + "\n";
  }
  return text;
}

std::vector<std::string> TopologyViews::ReplicaLines(const ClusterNode& master, bool tls) const {
  std::vector<std::string> lines;
  for (const auto& [id, node] : topology_.nodes()) {
    if (node->master_id != master.id) continue;
    lines.push_back(NodeLine(topology_, *node, RangesOf(node->slots), ClientPortOf(*node, tls)));
  }
  return lines;
}

}  // namespace zsetd
