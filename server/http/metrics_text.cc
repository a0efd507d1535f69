#include "server/http/metrics_text.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr MetricType kGauge = MetricType::Gauge;
constexpr MetricType kCounter = MetricType::Counter;

// A field of INFO as a metric. Words count as 1 (ok, up) or 0.
struct InfoMetric {
  std::string_view field;
  std::string_view name;
  MetricType type;
  std::string_view help;
  double scale = 1;
};

constexpr InfoMetric kInfoMetrics[] = {
    {"connected_clients", "redis_connected_clients", kGauge, "Clients that are connected"},
    {"cluster_connections", "redis_cluster_connections", kGauge, "Connections of a cluster"},
    {"blocked_clients", "redis_blocked_clients", kGauge, "Clients whose command waits"},
    {"tracking_clients", "redis_tracking_clients", kGauge, "Clients with CLIENT TRACKING"},
    {"pubsub_clients", "redis_pubsub_clients", kGauge, "Clients that are subscribed"},
    {"watching_clients", "redis_watching_clients", kGauge, "Clients that watch keys"},
    {"clients_in_timeout_table", "redis_clients_in_timeout_table", kGauge,
     "Blocked clients with a timeout"},
    {"total_watched_keys", "redis_total_watched_keys", kGauge, "Keys that are watched"},
    {"total_blocking_keys", "redis_total_blocking_keys", kGauge,
     "Keys that clients are blocked on"},
    {"client_recent_max_input_buffer", "redis_client_recent_max_input_buffer_bytes", kGauge,
     "The largest input buffer of a client"},
    {"client_recent_max_output_buffer", "redis_client_recent_max_output_buffer_bytes", kGauge,
     "The largest output of a client"},
    {"maxclients", "redis_config_maxclients", kGauge, "The setting maxclients"},
    {"used_memory", "redis_memory_used_bytes", kGauge, "Allocated memory"},
    {"used_memory_rss", "redis_memory_used_rss_bytes", kGauge, "Physical memory of the process"},
    {"used_memory_peak", "redis_memory_used_peak_bytes", kGauge, "The most that was allocated"},
    {"used_memory_overhead", "redis_memory_used_overhead_bytes", kGauge,
     "Memory for other things than data"},
    {"used_memory_startup", "redis_memory_used_startup_bytes", kGauge,
     "Memory of the empty server"},
    {"used_memory_dataset", "redis_memory_used_dataset_bytes", kGauge, "Memory of the data"},
    {"used_memory_lua", "redis_memory_used_lua_bytes", kGauge, "Memory of the script interpreter"},
    {"used_memory_scripts", "redis_memory_used_scripts_bytes", kGauge,
     "Memory of scripts and functions"},
    {"number_of_cached_scripts", "redis_number_of_cached_scripts", kGauge, "Scripts in the cache"},
    {"number_of_functions", "redis_number_of_functions", kGauge, "Functions that are loaded"},
    {"number_of_libraries", "redis_number_of_libraries", kGauge, "Libraries of functions"},
    {"maxmemory", "redis_memory_max_bytes", kGauge, "The setting maxmemory; 0: no limit"},
    {"maxmemory", "redis_config_maxmemory", kGauge, "The setting maxmemory; 0: no limit"},
    {"total_system_memory", "redis_total_system_memory_bytes", kGauge, "Memory of the machine"},
    {"allocator_allocated", "redis_allocator_allocated_bytes", kGauge,
     "Allocated, by the allocator's count"},
    {"allocator_active", "redis_allocator_active_bytes", kGauge, "Pages that hold allocations"},
    {"allocator_resident", "redis_allocator_resident_bytes", kGauge,
     "Physical pages of the allocator"},
    {"allocator_frag_ratio", "redis_allocator_frag_ratio", kGauge, "Active over allocated memory"},
    {"allocator_frag_bytes", "redis_allocator_frag_bytes", kGauge, "Active less allocated memory"},
    {"allocator_rss_ratio", "redis_allocator_rss_ratio", kGauge, "Resident over active memory"},
    {"allocator_rss_bytes", "redis_allocator_rss_bytes", kGauge, "Resident less active memory"},
    {"mem_fragmentation_ratio", "redis_mem_fragmentation_ratio", kGauge,
     "Physical over allocated memory"},
    {"mem_fragmentation_bytes", "redis_mem_fragmentation_bytes", kGauge,
     "Physical less allocated memory"},
    {"mem_clients_normal", "redis_mem_clients_normal", kGauge, "Memory of clients"},
    {"mem_clients_slaves", "redis_mem_clients_slaves", kGauge, "Memory of replicas"},
    {"mem_not_counted_for_evict", "redis_mem_not_counted_for_eviction_bytes", kGauge,
     "Memory that evictions leave out"},
    {"mem_aof_buffer", "redis_mem_aof_buffer_bytes", kGauge, "Memory of the log's buffer"},
    {"active_defrag_running", "redis_active_defrag_running", kGauge,
     "Whether memory is being defragmented"},
    {"lazyfree_pending_objects", "redis_lazyfree_pending_objects", kGauge,
     "Values that wait to be freed"},
    {"lazyfreed_objects", "redis_lazyfreed_objects", kCounter,
     "Values that were freed in the background"},
    {"loading", "redis_loading_dump_file", kGauge, "Whether data is being loaded"},
    {"rdb_changes_since_last_save", "redis_rdb_changes_since_last_save", kGauge,
     "Changes since the last snapshot"},
    {"rdb_bgsave_in_progress", "redis_rdb_bgsave_in_progress", kGauge,
     "Whether a snapshot is being saved"},
    {"rdb_last_save_time", "redis_rdb_last_save_timestamp_seconds", kGauge,
     "When the last snapshot was saved"},
    {"rdb_last_bgsave_status", "redis_rdb_last_bgsave_status", kGauge,
     "Whether the last snapshot was saved"},
    {"rdb_last_bgsave_time_sec", "redis_rdb_last_bgsave_duration_sec", kGauge,
     "What the last snapshot took; -1: none"},
    {"rdb_current_bgsave_time_sec", "redis_rdb_current_bgsave_duration_sec", kGauge,
     "What the snapshot has taken so far; -1: none"},
    {"rdb_last_cow_size", "redis_rdb_last_cow_size_bytes", kGauge,
     "Memory copied for the last snapshot"},
    {"rdb_saves", "redis_rdb_saves_total", kCounter, "Snapshots that were saved"},
    {"aof_enabled", "redis_aof_enabled", kGauge, "Whether there is an append-only log"},
    {"aof_rewrite_in_progress", "redis_aof_rewrite_in_progress", kGauge,
     "Whether the log is being rewritten"},
    {"aof_rewrite_scheduled", "redis_aof_rewrite_scheduled", kGauge,
     "Whether the log is to be rewritten"},
    {"aof_last_rewrite_time_sec", "redis_aof_last_rewrite_duration_sec", kGauge,
     "What the last rewrite took; -1: none"},
    {"aof_current_rewrite_time_sec", "redis_aof_current_rewrite_duration_sec", kGauge,
     "What the rewrite has taken so far; -1: none"},
    {"aof_last_bgrewrite_status", "redis_aof_last_bgrewrite_status", kGauge,
     "Whether the last rewrite worked"},
    {"aof_last_write_status", "redis_aof_last_write_status", kGauge,
     "Whether the last write to the log worked"},
    {"aof_last_cow_size", "redis_aof_last_cow_size_bytes", kGauge,
     "Memory copied for the last rewrite"},
    {"aof_current_size", "redis_aof_current_size_bytes", kGauge, "Size of the log"},
    {"aof_base_size", "redis_aof_base_size_bytes", kGauge,
     "Size of the log after the last rewrite"},
    {"aof_pending_rewrite", "redis_aof_pending_rewrite", kGauge,
     "Whether a rewrite waits for a snapshot"},
    {"aof_buffer_length", "redis_aof_buffer_length", kGauge,
     "Bytes that are to be written to the log"},
    {"aof_pending_bio_fsync", "redis_aof_pending_bio_fsync", kGauge, "Syncs that are pending"},
    {"aof_delayed_fsync", "redis_aof_delayed_fsync", kGauge, "Syncs that came late"},
    {"module_fork_in_progress", "redis_module_fork_in_progress", kGauge,
     "Whether a module has forked"},
    {"module_fork_last_cow_size", "redis_module_fork_last_cow_size", kGauge,
     "Memory copied for a fork of a module"},
    {"total_connections_received", "redis_connections_received_total", kCounter,
     "Connections that were accepted"},
    {"rejected_connections", "redis_rejected_connections_total", kCounter,
     "Connections that were refused"},
    {"total_commands_processed", "redis_commands_processed_total", kCounter,
     "Commands that were run"},
    {"instantaneous_ops_per_sec", "redis_instantaneous_ops_per_sec", kGauge,
     "Commands per second at present"},
    {"total_net_input_bytes", "redis_net_input_bytes_total", kCounter, "Bytes received"},
    {"total_net_output_bytes", "redis_net_output_bytes_total", kCounter, "Bytes sent"},
    {"total_reads_processed", "redis_total_reads_processed", kCounter, "Reads from the network"},
    {"total_writes_processed", "redis_total_writes_processed", kCounter, "Writes to the network"},
    {"io_threaded_reads_processed", "redis_io_threaded_reads_processed", kCounter,
     "Reads by I/O threads"},
    {"io_threaded_writes_processed", "redis_io_threaded_writes_processed", kCounter,
     "Writes by I/O threads"},
    {"io_threads_active", "redis_io_threads_active", kGauge, "Whether I/O threads are active"},
    {"client_query_buffer_limit_disconnections",
     "redis_client_query_buffer_limit_disconnections_total", kCounter,
     "Clients closed because they sent too much"},
    {"client_output_buffer_limit_disconnections",
     "redis_client_output_buffer_limit_disconnections_total", kCounter,
     "Clients closed because they did not read"},
    {"sync_full", "redis_replica_resyncs_full", kGauge, "Full synchronizations of replicas"},
    {"sync_partial_ok", "redis_replica_partial_resync_accepted", kGauge,
     "Partial synchronizations that were accepted"},
    {"sync_partial_err", "redis_replica_partial_resync_denied", kGauge,
     "Partial synchronizations that were denied"},
    {"expired_keys", "redis_expired_keys_total", kCounter, "Keys that expired"},
    {"expired_subkeys", "redis_expired_subkeys_total", kCounter, "Members that expired"},
    {"expired_stale_perc", "redis_expired_stale_percentage", kGauge,
     "Keys past their deadline, in percent"},
    {"expired_time_cap_reached_count", "redis_expired_time_cap_reached_total", kGauge,
     "Ticks that could not delete all that was due"},
    {"expire_cycle_cpu_milliseconds", "redis_expire_cycle_cpu_time_ms_total", kCounter,
     "Milliseconds that deleting expired keys took"},
    {"evicted_keys", "redis_evicted_keys_total", kCounter, "Keys that were evicted"},
    {"evicted_clients", "redis_evicted_clients_total", kCounter, "Clients closed for their memory"},
    {"evicted_scripts", "redis_evicted_scripts_total", kCounter, "Scripts that left the cache"},
    {"total_eviction_exceeded_time", "redis_eviction_exceeded_time_ms_total", kCounter,
     "Milliseconds above maxmemory"},
    {"current_eviction_exceeded_time", "redis_current_eviction_exceeded_time_ms", kGauge,
     "Milliseconds above maxmemory, at present"},
    {"keyspace_hits", "redis_keyspace_hits_total", kCounter, "Lookups that found a key"},
    {"keyspace_misses", "redis_keyspace_misses_total", kCounter, "Lookups that found none"},
    {"pubsub_channels", "redis_pubsub_channels", kGauge, "Channels with subscribers"},
    {"pubsub_patterns", "redis_pubsub_patterns", kGauge, "Patterns with subscribers"},
    {"pubsubshard_channels", "redis_pubsubshard_channels", kGauge,
     "Shard channels with subscribers"},
    {"latest_fork_usec", "redis_latest_fork_seconds", kGauge, "What the last fork took", 1e-6},
    {"migrate_cached_sockets", "redis_migrate_cached_sockets_total", kGauge, "Sockets of MIGRATE"},
    {"slave_expires_tracked_keys", "redis_slave_expires_tracked_keys", kGauge,
     "Keys with deadlines of a writable replica"},
    {"active_defrag_hits", "redis_defrag_hits", kGauge, "Values that were moved"},
    {"active_defrag_misses", "redis_defrag_misses", kGauge, "Values that were not"},
    {"active_defrag_key_hits", "redis_defrag_key_hits", kGauge, "Keys that were moved"},
    {"active_defrag_key_misses", "redis_defrag_key_misses", kGauge, "Keys that were not"},
    {"tracking_total_keys", "redis_tracking_total_keys", kGauge,
     "Keys in the table of CLIENT TRACKING"},
    {"tracking_total_items", "redis_tracking_total_items", kGauge, "Readers in that table"},
    {"tracking_total_prefixes", "redis_tracking_total_prefixes", kGauge,
     "Prefixes of CLIENT TRACKING"},
    {"unexpected_error_replies", "redis_unexpected_error_replies", kCounter,
     "Errors where none was expected"},
    {"total_error_replies", "redis_total_error_replies", kCounter, "Errors that were replied"},
    {"dump_payload_sanitizations", "redis_dump_payload_sanitizations", kCounter,
     "Payloads that were sanitized"},
    {"acl_access_denied_auth", "redis_acl_access_denied_auth_total", kCounter,
     "Logins that were denied"},
    {"acl_access_denied_cmd", "redis_acl_access_denied_cmd_total", kCounter,
     "Commands that were denied"},
    {"acl_access_denied_key", "redis_acl_access_denied_key_total", kCounter,
     "Keys that were denied"},
    {"acl_access_denied_channel", "redis_acl_access_denied_channel_total", kCounter,
     "Channels that were denied"},
    {"connected_slaves", "redis_connected_slaves", kGauge, "Replicas that are connected"},
    {"master_repl_offset", "redis_master_repl_offset", kGauge, "Offset of replication"},
    {"second_repl_offset", "redis_second_repl_offset", kGauge,
     "Offset up to which the second ID is valid"},
    {"repl_backlog_active", "redis_repl_backlog_is_active", kGauge, "Whether there is a backlog"},
    {"repl_backlog_size", "redis_replication_backlog_bytes", kGauge, "Size of the backlog"},
    {"repl_backlog_first_byte_offset", "redis_repl_backlog_first_byte_offset", kGauge,
     "Offset of the backlog"},
    {"repl_backlog_histlen", "redis_repl_backlog_history_bytes", kGauge, "Bytes in the backlog"},
    {"master_link_status", "redis_master_link_up", kGauge, "Whether the link to the master is up"},
    {"master_last_io_seconds_ago", "redis_master_last_io_seconds_ago", kGauge,
     "Seconds since the master was heard"},
    {"master_sync_in_progress", "redis_master_sync_in_progress", kGauge,
     "Whether data comes from the master"},
    {"slave_repl_offset", "redis_slave_repl_offset", kGauge, "Offset of this replica"},
    {"slave_priority", "redis_slave_priority", kGauge, "Priority of this replica"},
    {"slave_read_only", "redis_slave_read_only", kGauge, "Whether this replica is read-only"},
    {"used_cpu_sys", "redis_cpu_sys_seconds_total", kCounter, "Processor time in the system"},
    {"used_cpu_user", "redis_cpu_user_seconds_total", kCounter, "Processor time in the program"},
    {"used_cpu_sys_children", "redis_cpu_sys_children_seconds_total", kCounter,
     "Processor time of children in the system"},
    {"used_cpu_user_children", "redis_cpu_user_children_seconds_total", kCounter,
     "Processor time of children"},
    {"used_cpu_sys_main_thread", "redis_cpu_sys_main_thread_seconds_total", kCounter,
     "Processor time of the commands' thread in the system"},
    {"used_cpu_user_main_thread", "redis_cpu_user_main_thread_seconds_total", kCounter,
     "Processor time of the commands' thread"},
    {"cluster_enabled", "redis_cluster_enabled", kGauge, "Whether this is a node of a cluster"},
    {"uptime_in_seconds", "redis_uptime_in_seconds", kGauge, "Seconds since the start"},
    {"expiry_lag_usec", "zsetd_expiry_lag_seconds", kGauge,
     "For how long the key that is due longest is past its deadline", 1e-6},
    {"eventloop_cycles", "zsetd_event_loop_rounds_total", kCounter, "Rounds of the event loop"},
    {"eventloop_duration_sum", "zsetd_event_loop_seconds_total", kCounter,
     "Time of the rounds, waiting left out", 1e-6},
    {"eventloop_duration_cmd_sum", "zsetd_event_loop_command_seconds_total", kCounter,
     "Time of the commands in them", 1e-6},
    {"aof_rewrites", "zsetd_log_rewrites_total", kCounter, "Rewrites of the append-only log"},
    {"rdb_last_load_keys_loaded", "zsetd_load_keys_loaded", kGauge,
     "Keys that the start has loaded"},
    {"current_save_keys_processed", "zsetd_save_keys_processed", kGauge,
     "Keys that the present snapshot has saved"},
    {"current_save_keys_total", "zsetd_save_keys", kGauge, "Keys that it saves altogether"},
};

// The upper bounds of the buckets of latencies, in microseconds.
constexpr int64_t kLatencyBounds[] = {1,     2,     4,     8,      16,     32,     64,
                                      128,   256,   512,   1024,   2048,   4096,   8192,
                                      16384, 32768, 65536, 131072, 262144, 524288, 1048576};
constexpr double kQuantiles[] = {50, 95, 99};

// The fields of INFO by name.
using Fields = std::map<std::string_view, std::string_view>;

Fields FieldsOf(std::string_view info) {
  Fields fields;
  for (std::string_view line : Split(info, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with('#')) continue;
    fields.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return fields;
}

std::string_view FieldOf(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : found->second;
}

std::optional<double> Number(std::string_view text) {
  if (text == "ok" || text == "up") return 1;
  if (text == "err" || text == "fail" || text == "down") return 0;
  return ParseDouble(text);
}

// The value after `name` and = in "keys=1,expires=0".
std::optional<double> PartOf(std::string_view text, std::string_view name) {
  for (const std::string_view part : Split(text, ',')) {
    if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=') {
      return Number(part.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

// Collects metrics; those of one family come together, in the order of the first.
class Families {
 public:
  ClientMetric& Add(std::string_view name, MetricType type, std::string_view help,
                    Labels labels = {}) {
    const auto [at, is_new] = index_.emplace(std::string(name), families_.size());
    if (is_new) families_.push_back({std::string(name), std::string(help), type, {}});
    ClientMetric metric;
    metric.label = std::move(labels);
    return families_[at->second].metric.emplace_back(std::move(metric));
  }

  void Gauge(std::string_view name, std::string_view help, double value, Labels labels = {}) {
    Add(name, kGauge, help, std::move(labels)).gauge.value = value;
  }

  void Counter(std::string_view name, std::string_view help, double value, Labels labels = {}) {
    Add(name, kCounter, help, std::move(labels)).counter.value = value;
  }

  std::string Text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  std::vector<MetricFamily> families_;
  std::map<std::string, size_t> index_;
};

void AddInfo(const Fields& fields, Families& families) {
  for (const InfoMetric& row : kInfoMetrics) {
    const std::optional<double> value = Number(FieldOf(fields, row.field));
    if (!value) continue;
    const double scaled = *value * row.scale;
    if (row.type == kGauge) {
      families.Gauge(row.name, row.help, scaled);
    } else {
      families.Counter(row.name, row.help, scaled);
    }
  }
}

void AddServer(const Fields& fields, Families& families) {
  families.Gauge("redis_up", "Whether the server answers", 1);
  const auto text = [&](std::string_view name) { return std::string(FieldOf(fields, name)); };
  families.Gauge("redis_instance_info", "What the server is", 1,
                 {{"role", text("role")},
                  {"redis_version", text("redis_version")},
                  {"redis_build_id", text("redis_build_id")},
                  {"redis_mode", text("redis_mode")},
                  {"os", text("os")},
                  {"maxmemory_policy", text("maxmemory_policy")},
                  {"tcp_port", text("tcp_port")},
                  {"run_id", text("run_id")},
                  {"process_id", text("process_id")},
                  {"zsetd_version", text("zsetd_version")}});
  const std::optional<double> now = Number(text("server_time_usec"));
  const std::optional<double> uptime = Number(text("uptime_in_seconds"));
  if (now && uptime) {
    families.Gauge("redis_start_time_seconds", "When the server started",
                   static_cast<double>(static_cast<int64_t>(*now * 1e-6 - *uptime)));
  }
}

void AddDatabases(const Fields& fields, Families& families) {
  const auto add = [&](std::string_view db, std::string_view keys) {
    const Labels label = {{"db", std::string(db)}};
    families.Gauge("redis_db_keys", "Keys", PartOf(keys, "keys").value_or(0), label);
    families.Gauge("redis_db_keys_expiring", "Keys with a deadline",
                   PartOf(keys, "expires").value_or(0), label);
    families.Gauge("redis_db_avg_ttl_seconds", "Time to live, on average",
                   PartOf(keys, "avg_ttl").value_or(0) / 1000, label);
  };
  if (FieldOf(fields, "db0").empty()) add("db0", "");
  for (const auto& [name, value] : fields) {
    if (name.starts_with("db") && value.starts_with("keys=")) add(name, value);
  }
}

void AddErrors(const Fields& fields, Families& families) {
  constexpr std::string_view kPrefix = "errorstat_";
  for (const auto& [name, value] : fields) {
    if (!name.starts_with(kPrefix)) continue;
    families.Counter("redis_errors_total", "Errors that were replied, by their first word",
                     PartOf(value, "count").value_or(0),
                     {{"err", std::string(name.substr(kPrefix.size()))}});
  }
}

void AddLatency(const MetricsSnapshot::Command& command, const Labels& label, Families& families) {
  const LatencyHistogram& latency = command.stats.latency;
  ClientMetric::Histogram& histogram =
      families
          .Add("redis_commands_latencies_usec", MetricType::Histogram,
               "Durations of commands, in microseconds", label)
          .histogram;
  histogram.sample_count = latency.count();
  histogram.sample_sum = static_cast<double>(command.stats.micros);
  for (const int64_t bound : kLatencyBounds) {
    histogram.bucket.push_back({latency.CountUpTo(Micros(bound)), static_cast<double>(bound)});
  }
  ClientMetric::Summary& summary =
      families
          .Add("redis_latency_percentiles_usec", MetricType::Summary,
               "Percentiles of durations of commands, in microseconds", label)
          .summary;
  summary.sample_count = latency.count();
  summary.sample_sum = static_cast<double>(command.stats.micros);
  for (const double percent : kQuantiles) {
    summary.quantile.push_back({percent, static_cast<double>(latency.Percentile(percent).count())});
  }
}

void AddCommands(const MetricsSnapshot& snapshot, Families& families) {
  for (const MetricsSnapshot::Command& command : snapshot.commands) {
    const Labels label = {{"cmd", command.name}};
    const CommandStats& stats = command.stats;
    families.Counter("redis_commands_total", "Calls of a command", static_cast<double>(stats.calls),
                     label);
    families.Counter("redis_commands_duration_seconds_total", "Time that a command took",
                     static_cast<double>(stats.micros) * 1e-6, label);
    families.Counter("redis_commands_rejected_calls_total", "Calls that were refused",
                     static_cast<double>(stats.rejected), label);
    families.Counter("redis_commands_failed_calls_total", "Calls that replied an error",
                     static_cast<double>(stats.failed), label);
    if (stats.latency.count() > 0) AddLatency(command, label, families);
  }
}

void AddSlowLog(const MetricsSnapshot& snapshot, Families& families) {
  families.Gauge("redis_slowlog_length", "Entries of the slow log",
                 static_cast<double>(snapshot.slow_log_length));
  families.Gauge("redis_slowlog_last_id", "The last entry of the slow log",
                 static_cast<double>(snapshot.slow_log_last_id));
  families.Gauge("redis_last_slow_execution_duration_seconds", "What that entry took",
                 static_cast<double>(snapshot.slow_log_last_took.count()) * 1e-6);
}

}  // namespace

std::string MetricsText(const MetricsSnapshot& snapshot) {
  const Fields fields = FieldsOf(snapshot.info);
  Families families;
  AddServer(fields, families);
  AddInfo(fields, families);
  AddDatabases(fields, families);
  AddErrors(fields, families);
  AddCommands(snapshot, families);
  AddSlowLog(snapshot, families);
  return families.Text();
}

}  // namespace zsetd
