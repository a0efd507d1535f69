#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/cluster/topology/topology.h"
#include "server/engine/config/settings.h"
#include "server/engine/services/cluster_control.h"

namespace zsetd {

// Describes the nodes of a cluster to clients, in the words of Redis.
class TopologyViews {
 public:
  // `own_offset` is the replication offset of this node. The arguments outlive this.
  TopologyViews(const Settings& settings, const Topology& topology, int64_t own_offset)
      : settings_(settings), topology_(topology), own_offset_(own_offset) {}

  // The address in redirections. `tls`: the client uses TLS.
  std::string AddressOf(const ClusterNode& node, bool tls) const;

  // O(slots + nodes).
  std::vector<ClusterNodeView> Nodes() const;
  std::string NodesText(bool tls) const;

  // The lines of the replicas of a master. O(nodes).
  std::vector<std::string> ReplicaLines(const ClusterNode& master, bool tls) const;

 private:
  std::string EndpointOf(const ClusterNode& node) const;
  ClusterNodeView ViewOf(const ClusterNode& node) const;

  const Settings& settings_;
  const Topology& topology_;
  const int64_t own_offset_;
};

}  // namespace zsetd
