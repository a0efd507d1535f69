#include "server/http/metrics_replication.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace zsetd {
namespace {

// A field of INFO about the link to the master, as a metric.
struct LinkMetric {
  std::string_view field;
  std::string_view name;
  std::string_view help;
};

constexpr LinkMetric kLinkMetrics[] = {
    {"master_link_status", "redis_master_link_up", "1 if the link to the master is up"},
    {"master_last_io_seconds_ago", "redis_master_last_io_seconds_ago",
     "Seconds since the master last sent data"},
    {"master_sync_in_progress", "redis_master_sync_in_progress",
     "1 while a full synchronization is in progress"},
    {"master_link_down_since_seconds", "redis_master_link_down_since_seconds",
     "Seconds since the link to the master is down"},
    {"slave_repl_offset", "redis_slave_repl_offset", "Replication offset of this replica"},
};

void AddLink(const InfoFields& fields, Families& families) {
  const std::string host(FieldOf(fields, "master_host"));
  if (host.empty()) return;
  const Labels master = {{"master_host", host},
                         {"master_port", std::string(FieldOf(fields, "master_port"))}};
  for (const LinkMetric& row : kLinkMetrics) {
    const std::optional<double> value = FigureOf(FieldOf(fields, row.field));
    if (value) families.Gauge(row.name, row.help, *value, master);
  }
  Labels labels = master;
  labels.push_back({"read_only", std::string(FieldOf(fields, "slave_read_only"))});
  families.Gauge("redis_slave_info", "The master of this replica, as labels", 1, labels);
}

// Returns whether the field is that of a replica, such as slave0.
bool IsReplica(std::string_view name) {
  constexpr std::string_view kPrefix = "slave";
  return name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string_view::npos;
}

// Replicas may announce the same address, such as two tools without a port. A series may occur only
// once, so it has the figures of the first. min-replicas-to-write limits only the writes of
// masters.
void AddReplicas(const InfoFields& fields, Families& families) {
  std::set<Labels> added;
  for (const auto& [name, value] : fields) {
    if (!IsReplica(name)) continue;
    const Labels replica = {{"slave_ip", std::string(PartOf(value, "ip"))},
                            {"slave_port", std::string(PartOf(value, "port"))},
                            {"slave_state", std::string(PartOf(value, "state"))}};
    if (!added.insert(replica).second) continue;
    families.Gauge("redis_connected_slave_offset_bytes",
                   "Offset up to which a replica has acknowledged the stream",
                   NumberIn(value, "offset"), replica);
    families.Gauge("redis_connected_slave_lag_seconds",
                   "Seconds since the last acknowledgement of a replica", NumberIn(value, "lag"),
                   replica);
  }
  const std::optional<double> good = FigureOf(FieldOf(fields, "min_slaves_good_slaves"));
  if (good && FieldOf(fields, "role") == "master") {
    families.Gauge("zsetd_good_replicas", "Replicas that count for min-replicas-to-write", *good);
  }
}

}  // namespace

void AddReplication(const InfoFields& fields, Families& families) {
  AddLink(fields, families);
  AddReplicas(fields, families);
}

}  // namespace zsetd
