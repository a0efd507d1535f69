// Redis's text format of a cluster: a line for each node, as in CLUSTER NODES, and in nodes.conf a
// line with the epochs.
//
//   ID IP:PORT@BUSPORT[,HOSTNAME[,NAME=VALUE ...]] FLAGS MASTER|- PING PONG EPOCH LINK SLOTS...
//   vars currentEpoch N lastVoteEpoch N [slotsToClear 0-4,9-9]
//        [grantedEpoch N grantedMillis N grantedTo ID grantedSlots 0-4,9-9]
//
// SLOTS are "5", "0-4", "[6->-ID]" (the slot migrates to that node) and "[7-<-ID]" (the slot is
// imported from it). Redis 7.2 adds names and values; redis-server 7.0 cannot read them, so they
// are read here and not written. Redis skips unknown variables, such as slotsToClear and those of a
// grant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/cluster/topology/topology.h"

namespace zsetd {

// The line of a node without the line's end. `port` is the port that it contains.
std::string NodeLine(const Topology& topology, const ClusterNode& node,
                     std::span<const SlotRange> ranges, int64_t port);

// The text of nodes.conf. O(slots + nodes).
std::string NodesFileText(const Topology& topology);

// Reads a nodes.conf. A refusal is human-readable and names the line. O(length).
absl::StatusOr<Topology> ReadNodesText(std::string_view text);

}  // namespace zsetd
