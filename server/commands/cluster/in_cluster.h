#pragma once

#include "server/engine/admin_call.h"
#include "server/engine/services/cluster_control.h"
#include "server/engine/services/services.h"

namespace zsetd {

// The function of a row that only a node of a cluster runs. Other servers reply with Redis's error,
// from which clients conclude that no other nodes exist.
template <void (*run)(AdminCall&)>
void InCluster(AdminCall& call) {
  if (!call.engine.settings().cluster_enabled) {
    return call.Fail("ERR This instance has cluster support disabled");
  }
  run(call);
}

inline ClusterControl& ClusterOf(AdminCall& call) { return *call.engine.services().cluster; }

inline bool UsesTls(const AdminCall& call) {
  const Client* client = call.caller.client();
  return client != nullptr && client->connection.uses_tls;
}

// Replies OK, or the error.
inline void ReplyStatus(AdminCall& call, const absl::Status& status) {
  status.ok() ? call.reply.Ok() : call.Fail(status);
}

}  // namespace zsetd
