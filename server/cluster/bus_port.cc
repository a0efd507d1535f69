#include "server/cluster/bus_port.h"

#include <string>

#include "server/engine/config/settings.h"
#include "server/engine/state/replication_state.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/port_limit.h"

namespace zsetd {
namespace {

constexpr int64_t kBusPortDistance = 10000;

}  // namespace

int64_t BusPort(const Settings& settings) {
  if (settings.cluster_port != 0) return settings.cluster_port;
  const bool prefers_tls = settings.tls_cluster && settings.tls_port != 0;
  const bool uses_tls = prefers_tls || settings.port == 0;
  return (uses_tls ? settings.tls_port : settings.port) + kBusPortDistance;
}

absl::Status CheckBusPort(const Settings& settings) {
  const int64_t port = BusPort(settings);
  if (!settings.cluster_enabled || port <= kMaxPort) return absl::OkStatus();
  return Refusal("The port of the cluster bus would be " + std::to_string(port) +
                 ": set cluster-port, or a port below " +
                 std::to_string(kMaxPort - kBusPortDistance + 1));
}

absl::Status CheckClusterSettings(const Settings& settings) {
  if (settings.cluster_enabled && MasterIn(settings)) {
    return Refusal("replicaof directive not allowed in cluster mode");
  }
  return CheckBusPort(settings);
}

}  // namespace zsetd
