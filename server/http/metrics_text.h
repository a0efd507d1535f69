#pragma once

#include <string>

#include "server/http/metrics_snapshot.h"

namespace zsetd {

// The snapshot in the text format of Prometheus. Names, types and labels are those of
// prometheus-redis-exporter where it has the figure, so that its dashboards and alerts work;
// metrics that only zsetd has begin with zsetd_.
//
//   redis_commands_total{cmd="zadd"}          redis_memory_used_bytes     redis_db_keys{db="db0"}
//   redis_commands_latencies_usec_bucket      redis_connected_clients     zsetd_expiry_lag_seconds
//
// Takes some milliseconds: to be called on another thread than that of the commands.
std::string MetricsText(const MetricsSnapshot& snapshot);

}  // namespace zsetd
