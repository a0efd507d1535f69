#include "server/http/metrics_text.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_type.h>

#include <optional>
#include <string>
#include <string_view>

#include "server/http/info_fields.h"
#include "server/http/metric_families.h"
#include "server/http/metrics_replication.h"

namespace zsetd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

constexpr MetricType kGauge = MetricType::Gauge;
constexpr MetricType kCounter = MetricType::Counter;

// A field of INFO as a metric. A field that is always 0 is a metric only if
// prometheus-redis-exporter has it for Redis 7.0, because dashboards may need it.
struct InfoMetric {
  std::string_view field;
  std::string_view name;
  MetricType type;
  std::string_view help;
  double scale = 1;
};

constexpr InfoMetric kInfoMetrics[] = {
    {"connected_clients", "redis_connected_clients", kGauge, "Connected clients"},
    {"cluster_connections", "redis_cluster_connections", kGauge, "Connections of the cluster bus"},
    {"blocked_clients", "redis_blocked_clients", kGauge, "Clients that wait in a blocking command"},
    {"tracking_clients", "redis_tracking_clients", kGauge, "Clients that use CLIENT TRACKING"},
    {"pubsub_clients", "redis_pubsub_clients", kGauge, "Clients with subscriptions"},
    {"watching_clients", "redis_watching_clients", kGauge, "Clients that watch keys"},
    {"clients_in_timeout_table", "redis_clients_in_timeout_table", kGauge,
     "Blocked clients with a timeout"},
    {"total_watched_keys", "redis_total_watched_keys", kGauge, "Keys that are watched"},
    {"total_blocking_keys", "redis_total_blocking_keys", kGauge, "Keys that clients wait for"},
    {"client_recent_max_input_buffer", "redis_client_recent_max_input_buffer_bytes", kGauge,
     "The largest recent input buffer of a client"},
    {"client_recent_max_output_buffer", "redis_client_recent_max_output_buffer_bytes", kGauge,
     "The largest recent output buffer of a client"},
    {"maxclients", "redis_config_maxclients", kGauge, "The setting maxclients"},
    {"used_memory", "redis_memory_used_bytes", kGauge, "Allocated memory"},
    {"used_memory_rss", "redis_memory_used_rss_bytes", kGauge, "Physical memory of the process"},
    {"used_memory_peak", "redis_memory_used_peak_bytes", kGauge,
     "The largest allocated memory so far"},
    {"used_memory_overhead", "redis_memory_used_overhead_bytes", kGauge,
     "Memory that is not used for data"},
    {"used_memory_startup", "redis_memory_used_startup_bytes", kGauge, "Memory at the start"},
    {"used_memory_dataset", "redis_memory_used_dataset_bytes", kGauge, "Memory of the data"},
    {"used_memory_lua", "redis_memory_used_lua_bytes", kGauge, "Memory of the script interpreter"},
    {"used_memory_scripts", "redis_memory_used_scripts_bytes", kGauge,
     "Memory of scripts and functions"},
    {"number_of_cached_scripts", "redis_number_of_cached_scripts", kGauge, "Scripts in the cache"},
    {"number_of_functions", "redis_number_of_functions", kGauge, "Loaded functions"},
    {"number_of_libraries", "redis_number_of_libraries", kGauge, "Loaded libraries"},
    {"maxmemory", "redis_memory_max_bytes", kGauge, "The setting maxmemory; 0 means no limit"},
    {"maxmemory", "redis_config_maxmemory", kGauge, "The setting maxmemory; 0 means no limit"},
    {"total_system_memory", "redis_total_system_memory_bytes", kGauge, "Memory of the machine"},
    {"allocator_allocated", "redis_allocator_allocated_bytes", kGauge,
     "Allocated bytes, as counted by the allocator"},
    {"allocator_active", "redis_allocator_active_bytes", kGauge, "Pages that hold allocations"},
    {"allocator_resident", "redis_allocator_resident_bytes", kGauge,
     "Physical pages of the allocator"},
    {"allocator_frag_ratio", "redis_allocator_frag_ratio", kGauge,
     "Active memory divided by allocated memory"},
    {"allocator_frag_bytes", "redis_allocator_frag_bytes", kGauge,
     "Active memory minus allocated memory"},
    {"allocator_rss_ratio", "redis_allocator_rss_ratio", kGauge,
     "Resident memory divided by active memory"},
    {"allocator_rss_bytes", "redis_allocator_rss_bytes", kGauge,
     "Resident memory minus active memory"},
    {"mem_fragmentation_ratio", "redis_mem_fragmentation_ratio", kGauge,
     "Physical memory divided by allocated memory"},
    {"mem_fragmentation_bytes", "redis_mem_fragmentation_bytes", kGauge,
     "Physical memory minus allocated memory"},
    {"mem_clients_normal", "redis_mem_clients_normal", kGauge, "Memory of clients"},
    {"mem_clients_slaves", "redis_mem_clients_slaves", kGauge, "Memory of replicas"},
    {"mem_not_counted_for_evict", "redis_mem_not_counted_for_eviction_bytes", kGauge,
     "Memory that does not count for evictions"},
    {"active_defrag_running", "redis_active_defrag_running", kGauge,
     "1 while memory is being defragmented"},
    {"lazyfree_pending_objects", "redis_lazyfree_pending_objects", kGauge,
     "Values that are still to be freed in the background"},
    {"lazyfreed_objects", "redis_lazyfreed_objects", kCounter, "Values freed in the background"},
    {"loading", "redis_loading_dump_file", kGauge, "1 while data is being loaded"},
    {"rdb_changes_since_last_save", "redis_rdb_changes_since_last_save", kGauge,
     "Changes since the last snapshot"},
    {"rdb_bgsave_in_progress", "redis_rdb_bgsave_in_progress", kGauge,
     "1 while a snapshot is being saved"},
    {"rdb_last_save_time", "redis_rdb_last_save_timestamp_seconds", kGauge,
     "Unix time of the last saved snapshot"},
    {"rdb_last_bgsave_status", "redis_rdb_last_bgsave_status", kGauge,
     "1 if the last snapshot succeeded"},
    {"rdb_last_bgsave_time_sec", "redis_rdb_last_bgsave_duration_sec", kGauge,
     "Duration of the last snapshot; -1 without one"},
    {"rdb_current_bgsave_time_sec", "redis_rdb_current_bgsave_duration_sec", kGauge,
     "Duration of the current snapshot so far; -1 without one"},
    {"rdb_last_cow_size", "redis_rdb_last_cow_size_bytes", kGauge,
     "Memory copied for the last snapshot"},
    {"rdb_saves", "redis_rdb_saves_total", kCounter, "Saved snapshots"},
    {"aof_enabled", "redis_aof_enabled", kGauge, "1 if the append-only log is on"},
    {"aof_rewrite_in_progress", "redis_aof_rewrite_in_progress", kGauge,
     "1 while the log is being rewritten"},
    {"aof_rewrite_scheduled", "redis_aof_rewrite_scheduled", kGauge,
     "1 if a rewrite of the log is scheduled"},
    {"aof_last_rewrite_time_sec", "redis_aof_last_rewrite_duration_sec", kGauge,
     "Duration of the last rewrite; -1 without one"},
    {"aof_current_rewrite_time_sec", "redis_aof_current_rewrite_duration_sec", kGauge,
     "Duration of the current rewrite so far; -1 without one"},
    {"aof_last_bgrewrite_status", "redis_aof_last_bgrewrite_status", kGauge,
     "1 if the last rewrite succeeded"},
    {"aof_last_write_status", "redis_aof_last_write_status", kGauge,
     "1 if the last write to the log succeeded"},
    {"aof_last_cow_size", "redis_aof_last_cow_size_bytes", kGauge,
     "Memory copied for the last rewrite"},
    {"aof_current_size", "redis_aof_current_size_bytes", kGauge, "Size of the log"},
    {"aof_base_size", "redis_aof_base_size_bytes", kGauge,
     "Size of the log after the last rewrite"},
    {"aof_pending_rewrite", "redis_aof_pending_rewrite", kGauge,
     "1 if a rewrite waits for a snapshot to end"},
    {"aof_buffer_length", "redis_aof_buffer_length", kGauge,
     "Bytes that are not yet written to the log"},
    {"aof_delayed_fsync", "redis_aof_delayed_fsync", kGauge, "Delayed syncs of the log"},
    {"total_connections_received", "redis_connections_received_total", kCounter,
     "Accepted connections"},
    {"rejected_connections", "redis_rejected_connections_total", kCounter, "Refused connections"},
    {"total_commands_processed", "redis_commands_processed_total", kCounter, "Commands run"},
    {"instantaneous_ops_per_sec", "redis_instantaneous_ops_per_sec", kGauge,
     "Current commands per second"},
    {"total_net_input_bytes", "redis_net_input_bytes_total", kCounter, "Bytes received"},
    {"total_net_output_bytes", "redis_net_output_bytes_total", kCounter, "Bytes sent"},
    {"total_reads_processed", "redis_total_reads_processed", kCounter, "Reads from the network"},
    {"total_writes_processed", "redis_total_writes_processed", kCounter, "Writes to the network"},
    {"client_query_buffer_limit_disconnections",
     "redis_client_query_buffer_limit_disconnections_total", kCounter,
     "Clients closed because of their query buffer"},
    {"client_output_buffer_limit_disconnections",
     "redis_client_output_buffer_limit_disconnections_total", kCounter,
     "Clients closed because of their output buffer"},
    {"sync_full", "redis_replica_resyncs_full", kGauge, "Full synchronizations of replicas"},
    {"sync_partial_ok", "redis_replica_partial_resync_accepted", kGauge,
     "Accepted requests for a partial synchronization"},
    {"sync_partial_err", "redis_replica_partial_resync_denied", kGauge,
     "Denied requests for a partial synchronization"},
    {"expired_keys", "redis_expired_keys_total", kCounter, "Expired keys"},
    {"expired_subkeys", "redis_expired_subkeys_total", kCounter, "Expired fields and members"},
    {"expired_stale_perc", "redis_expired_stale_percentage", kGauge,
     "Estimated percentage of keys past their deadline"},
    {"expired_time_cap_reached_count", "redis_expired_time_cap_reached_total", kGauge,
     "Ticks that ended before they deleted all due keys"},
    {"expire_cycle_cpu_milliseconds", "redis_expire_cycle_cpu_time_ms_total", kCounter,
     "Milliseconds spent on deleting expired keys"},
    {"evicted_keys", "redis_evicted_keys_total", kCounter, "Evicted keys"},
    {"evicted_clients", "redis_evicted_clients_total", kCounter,
     "Clients closed because of their memory use"},
    {"evicted_scripts", "redis_evicted_scripts_total", kCounter, "Scripts removed from the cache"},
    {"total_eviction_exceeded_time", "redis_eviction_exceeded_time_ms_total", kCounter,
     "Milliseconds spent above maxmemory"},
    {"current_eviction_exceeded_time", "redis_current_eviction_exceeded_time_ms", kGauge,
     "Milliseconds above maxmemory so far; 0 if below"},
    {"keyspace_hits", "redis_keyspace_hits_total", kCounter, "Lookups that found a key"},
    {"keyspace_misses", "redis_keyspace_misses_total", kCounter, "Lookups that did not find a key"},
    {"pubsub_channels", "redis_pubsub_channels", kGauge, "Channels with subscribers"},
    {"pubsub_patterns", "redis_pubsub_patterns", kGauge, "Patterns with subscribers"},
    {"pubsubshard_channels", "redis_pubsubshard_channels", kGauge,
     "Shard channels with subscribers"},
    {"latest_fork_usec", "redis_latest_fork_seconds", kGauge, "Duration of the last fork", 1e-6},
    {"migrate_cached_sockets", "redis_migrate_cached_sockets_total", kGauge,
     "Cached connections of MIGRATE"},
    {"slave_expires_tracked_keys", "redis_slave_expires_tracked_keys", kGauge,
     "Keys with a deadline that a writable replica tracks"},
    {"active_defrag_hits", "redis_defrag_hits", kGauge, "Values moved by defragmentation"},
    {"active_defrag_misses", "redis_defrag_misses", kGauge,
     "Values that defragmentation did not move"},
    {"active_defrag_key_hits", "redis_defrag_key_hits", kGauge, "Keys moved by defragmentation"},
    {"active_defrag_key_misses", "redis_defrag_key_misses", kGauge,
     "Keys that defragmentation did not move"},
    {"tracking_total_keys", "redis_tracking_total_keys", kGauge,
     "Keys in the table of CLIENT TRACKING"},
    {"tracking_total_items", "redis_tracking_total_items", kGauge,
     "Pairs of a key and a client in the table of CLIENT TRACKING"},
    {"tracking_total_prefixes", "redis_tracking_total_prefixes", kGauge,
     "Prefixes of CLIENT TRACKING"},
    {"total_error_replies", "redis_total_error_replies", kCounter, "Error replies"},
    {"acl_access_denied_auth", "redis_acl_access_denied_auth_total", kCounter, "Denied logins"},
    {"acl_access_denied_cmd", "redis_acl_access_denied_cmd_total", kCounter,
     "Commands denied by an ACL"},
    {"acl_access_denied_key", "redis_acl_access_denied_key_total", kCounter,
     "Keys denied by an ACL"},
    {"acl_access_denied_channel", "redis_acl_access_denied_channel_total", kCounter,
     "Channels denied by an ACL"},
    {"connected_slaves", "redis_connected_slaves", kGauge, "Connected replicas"},
    {"master_repl_offset", "redis_master_repl_offset", kGauge, "Replication offset of this server"},
    {"second_repl_offset", "redis_second_repl_offset", kGauge,
     "Offset up to which the second replication ID is valid"},
    {"repl_backlog_active", "redis_repl_backlog_is_active", kGauge,
     "1 if the replication backlog exists"},
    {"repl_backlog_size", "redis_replication_backlog_bytes", kGauge,
     "Size of the replication backlog"},
    {"repl_backlog_first_byte_offset", "redis_repl_backlog_first_byte_offset", kGauge,
     "Offset of the first byte in the replication backlog"},
    {"repl_backlog_histlen", "redis_repl_backlog_history_bytes", kGauge,
     "Bytes in the replication backlog"},
    {"slave_priority", "redis_slave_priority", kGauge, "Priority of this replica"},
    {"slave_read_only", "redis_slave_read_only", kGauge, "1 if this replica is read-only"},
    {"used_cpu_sys", "redis_cpu_sys_seconds_total", kCounter, "Processor time in the kernel"},
    {"used_cpu_user", "redis_cpu_user_seconds_total", kCounter, "Processor time in user mode"},
    {"used_cpu_sys_children", "redis_cpu_sys_children_seconds_total", kCounter,
     "Processor time of child processes in the kernel"},
    {"used_cpu_user_children", "redis_cpu_user_children_seconds_total", kCounter,
     "Processor time of child processes in user mode"},
    {"used_cpu_sys_main_thread", "redis_cpu_sys_main_thread_seconds_total", kCounter,
     "Processor time of the commands' thread in the kernel"},
    {"used_cpu_user_main_thread", "redis_cpu_user_main_thread_seconds_total", kCounter,
     "Processor time of the commands' thread in user mode"},
    {"cluster_enabled", "redis_cluster_enabled", kGauge, "1 if this server is a node of a cluster"},
    {"cluster_state", "redis_cluster_state", kGauge, "1 if the cluster serves requests"},
    {"cluster_slots_assigned", "redis_cluster_slots_assigned", kGauge, "Slots with an owner"},
    {"cluster_slots_ok", "redis_cluster_slots_ok", kGauge, "Slots whose owner works"},
    {"cluster_slots_pfail", "redis_cluster_slots_pfail", kGauge,
     "Slots whose owner may have failed"},
    {"cluster_slots_fail", "redis_cluster_slots_fail", kGauge, "Slots whose owner has failed"},
    {"cluster_known_nodes", "redis_cluster_known_nodes", kGauge, "Nodes that this node knows"},
    {"cluster_size", "redis_cluster_size", kGauge, "Masters with slots"},
    {"cluster_current_epoch", "redis_cluster_current_epoch", kGauge,
     "The greatest epoch of the cluster"},
    {"cluster_my_epoch", "redis_cluster_my_epoch", kGauge, "The epoch of this node or its master"},
    {"cluster_stats_messages_sent", "redis_cluster_messages_sent_total", kCounter,
     "Messages sent over the cluster bus"},
    {"cluster_stats_messages_received", "redis_cluster_messages_received_total", kCounter,
     "Messages received over the cluster bus"},
    {"uptime_in_seconds", "redis_uptime_in_seconds", kGauge, "Seconds since the start"},
    {"expiry_lag_usec", "zsetd_expiry_lag_seconds", kGauge,
     "Time since the earliest deadline of an expired key that still exists", 1e-6},
    {"eventloop_cycles", "zsetd_event_loop_rounds_total", kCounter, "Rounds of the event loop"},
    {"eventloop_duration_sum", "zsetd_event_loop_seconds_total", kCounter,
     "Time of the event loop's rounds, without waiting", 1e-6},
    {"eventloop_duration_cmd_sum", "zsetd_event_loop_command_seconds_total", kCounter,
     "Time of the commands in the event loop's rounds", 1e-6},
    {"engine_lock_exclusive_us", "zsetd_engine_lock_exclusive_seconds_total", kCounter,
     "Time for which a thread had the engine to itself", 1e-6},
    {"engine_lock_wait_us", "zsetd_engine_lock_wait_seconds_total", kCounter,
     "Time for which threads waited for the engine", 1e-6},
    {"engine_lock_waits", "zsetd_engine_lock_waits_total", kCounter, "Waits for the engine"},
    {"engine_lock_longest_exclusive_us", "zsetd_engine_lock_longest_exclusive_seconds", kGauge,
     "The longest time for which a thread had the engine to itself", 1e-6},
    {"engine_lock_longest_wait_us", "zsetd_engine_lock_longest_wait_seconds", kGauge,
     "The longest wait for the engine", 1e-6},
    {"engine_lock_shared_turns", "zsetd_engine_lock_shared_turns_total", kCounter,
     "Turns in which threads shared the engine"},
    {"engine_lock_shared_requests", "zsetd_engine_lock_shared_requests_total", kCounter,
     "Requests that ran in shared turns"},
    {"engine_lock_shared_us", "zsetd_engine_lock_shared_seconds_total", kCounter,
     "Time for which threads shared the engine, the sum over threads", 1e-6},
    {"engine_lock_shared_wait_us", "zsetd_engine_lock_shared_wait_seconds_total", kCounter,
     "Time for which threads waited to share the engine", 1e-6},
    {"engine_lock_shared_waits", "zsetd_engine_lock_shared_waits_total", kCounter,
     "Waits to share the engine"},
    {"engine_lock_longest_shared_us", "zsetd_engine_lock_longest_shared_seconds", kGauge,
     "The longest time for which a thread shared the engine", 1e-6},
    {"engine_lock_longest_shared_wait_us", "zsetd_engine_lock_longest_shared_wait_seconds", kGauge,
     "The longest wait to share the engine", 1e-6},
    {"engine_lock_wait_p999_us", "zsetd_engine_lock_wait_p999_seconds", kGauge,
     "The time within which 99.9 % of the waits for the engine ended", 1e-6},
    {"aof_rewrites", "zsetd_log_rewrites_total", kCounter, "Rewrites of the append-only log"},
    {"rdb_last_load_keys_loaded", "zsetd_load_keys_loaded", kGauge, "Keys loaded at the start"},
    {"current_save_keys_processed", "zsetd_save_keys_processed", kGauge,
     "Keys saved so far by the current snapshot"},
    {"current_save_keys_total", "zsetd_save_keys", kGauge,
     "Keys that the current snapshot saves in total"},
};

// The upper bounds of the latency buckets, in microseconds.
constexpr int64_t kLatencyBounds[] = {1,     2,     4,     8,      16,     32,     64,
                                      128,   256,   512,   1024,   2048,   4096,   8192,
                                      16384, 32768, 65536, 131072, 262144, 524288, 1048576};
constexpr double kQuantiles[] = {50, 95, 99};

void AddInfo(const InfoFields& fields, Families& families) {
  for (const InfoMetric& row : kInfoMetrics) {
    const std::optional<double> value = FigureOf(FieldOf(fields, row.field));
    if (!value) continue;
    const double scaled = *value * row.scale;
    if (row.type == kGauge) {
      families.Gauge(row.name, row.help, scaled);
    } else {
      families.Counter(row.name, row.help, scaled);
    }
  }
}

void AddServer(const InfoFields& fields, Families& families) {
  families.Gauge("redis_up", "1 if the server responds", 1);
  const auto text = [&](std::string_view name) { return std::string(FieldOf(fields, name)); };
  families.Gauge("redis_instance_info", "Identity and version of the server, as labels", 1,
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
  const std::optional<double> now = FigureOf(text("server_time_usec"));
  const std::optional<double> uptime = FigureOf(text("uptime_in_seconds"));
  if (now && uptime) {
    families.Gauge("redis_start_time_seconds", "Unix time of the server's start",
                   static_cast<double>(static_cast<int64_t>(*now * 1e-6 - *uptime)));
  }
}

void AddDatabases(const InfoFields& fields, Families& families) {
  const auto add = [&](std::string_view db, std::string_view keys) {
    const Labels label = {{"db", std::string(db)}};
    families.Gauge("redis_db_keys", "Keys", NumberIn(keys, "keys"), label);
    families.Gauge("redis_db_keys_expiring", "Keys with a deadline", NumberIn(keys, "expires"),
                   label);
    families.Gauge("redis_db_avg_ttl_seconds", "Average time to live of keys with a deadline",
                   NumberIn(keys, "avg_ttl") / 1000, label);
  };
  if (FieldOf(fields, "db0").empty()) add("db0", "");
  for (const auto& [name, value] : fields) {
    if (name.starts_with("db") && value.starts_with("keys=")) add(name, value);
  }
}

void AddThreads(const InfoFields& fields, Families& families) {
  constexpr std::string_view kPrefix = "io_thread_";
  for (const auto& [name, value] : fields) {
    if (!name.starts_with(kPrefix)) continue;
    const Labels label = {{"thread", std::string(name.substr(kPrefix.size()))}};
    families.Gauge("zsetd_thread_clients", "Clients that a thread serves",
                   NumberIn(value, "clients"), label);
    families.Counter("zsetd_thread_requests_total", "Requests that a thread ran",
                     NumberIn(value, "requests"), label);
    families.Counter("zsetd_thread_busy_seconds_total",
                     "Time of a thread's rounds, without waiting",
                     NumberIn(value, "busy_us") * 1e-6, label);
  }
}

void AddErrors(const InfoFields& fields, Families& families) {
  constexpr std::string_view kPrefix = "errorstat_";
  for (const auto& [name, value] : fields) {
    if (!name.starts_with(kPrefix)) continue;
    families.Counter("redis_errors_total", "Error replies, by their first word",
                     NumberIn(value, "count"), {{"err", std::string(name.substr(kPrefix.size()))}});
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
    families.Counter("redis_commands_duration_seconds_total", "Total duration of a command's calls",
                     static_cast<double>(stats.micros) * 1e-6, label);
    families.Counter("redis_commands_rejected_calls_total", "Refused calls",
                     static_cast<double>(stats.rejected), label);
    families.Counter("redis_commands_failed_calls_total", "Calls that replied with an error",
                     static_cast<double>(stats.failed), label);
    if (stats.latency.count() > 0) AddLatency(command, label, families);
  }
}

void AddSlowLog(const MetricsSnapshot& snapshot, Families& families) {
  families.Gauge("redis_slowlog_length", "Entries in the slow log",
                 static_cast<double>(snapshot.slow_log_length));
  families.Gauge("redis_slowlog_last_id", "ID of the last entry of the slow log",
                 static_cast<double>(snapshot.slow_log_last_id));
  families.Gauge("redis_last_slow_execution_duration_seconds",
                 "Duration of the last command in the slow log",
                 static_cast<double>(snapshot.slow_log_last_took.count()) * 1e-6);
}

void AddLatencyEvents(const MetricsSnapshot& snapshot, Families& families) {
  for (const MetricsSnapshot::LatencyEvent& event : snapshot.latency_events) {
    const Labels label = {{"event_name", event.name}};
    families.Gauge("redis_latency_spike_last", "Unix time of the last latency spike",
                   static_cast<double>(event.second), label);
    families.Gauge("redis_latency_spike_duration_seconds", "Duration of the last latency spike",
                   static_cast<double>(event.took.count()) * 1e-3, label);
  }
}

}  // namespace

std::string MetricsText(const MetricsSnapshot& snapshot) {
  const InfoFields fields = FieldsOf(snapshot.info);
  Families families;
  AddServer(fields, families);
  AddInfo(fields, families);
  AddDatabases(fields, families);
  AddThreads(fields, families);
  AddErrors(fields, families);
  AddCommands(snapshot, families);
  AddSlowLog(snapshot, families);
  AddReplication(fields, families);
  AddLatencyEvents(snapshot, families);
  families.Gauge("redis_config_io_threads", "The setting io-threads",
                 static_cast<double>(snapshot.io_threads));
  families.Gauge("zsetd_min_replicas_to_write", "The setting min-replicas-to-write",
                 static_cast<double>(snapshot.min_replicas_to_write));
  return families.Text();
}

}  // namespace zsetd
