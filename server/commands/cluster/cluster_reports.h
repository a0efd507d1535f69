#pragma once

namespace zsetd {

class AdminCall;

// The subcommands of CLUSTER that describe the cluster.
void ClusterInfo(AdminCall& call);
void ClusterNodes(AdminCall& call);
void ClusterSlots(AdminCall& call);
void ClusterShards(AdminCall& call);
void ClusterReplicas(AdminCall& call);
void ClusterLinks(AdminCall& call);

}  // namespace zsetd
