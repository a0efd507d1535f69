#pragma once

#include <string>

#include "server/http/metrics_snapshot.h"

namespace zsetd {

// Formats the snapshot in the text format of Prometheus. If prometheus-redis-exporter has the
// figure, the name, type and labels are the same, so that its dashboards and alerts work. Metrics
// that only zsetd has begin with zsetd_.
//
//   redis_commands_total{cmd="zadd"}          redis_memory_used_bytes     redis_db_keys{db="db0"}
//   redis_commands_latencies_usec_bucket      redis_connected_clients     zsetd_expiry_lag_seconds
//
// Takes some milliseconds, so it must not be called on the thread of the commands.
std::string MetricsText(const MetricsSnapshot& snapshot);

}  // namespace zsetd
