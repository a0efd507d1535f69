#include "server/engine/config/settings_table.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/stream/producers.h"
#include "protocol/resp/inline_words.h"
#include "server/engine/config/setting_checks.h"
#include "server/engine/config/setting_limits.h"
#include "server/engine/config/setting_suggestion.h"
#include "server/engine/config/settings_without_effect.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/port_limit.h"

namespace zsetd {
namespace {

constexpr int64_t kMaxIoThreads = 128;  // as in Redis

constexpr int64_t kMaxDatabases = 16384;     // each takes memory, and time of every tick
constexpr int64_t kMaxKeepAlive = 32767;     // Linux: MAX_TCP_KEEPIDLE
constexpr int64_t kMaxTicks = 500;           // Redis: CONFIG_MAX_HZ
constexpr int64_t kLeastBacklog = 16 << 10;  // Redis: CONFIG_REPL_BACKLOG_MIN_SIZE
constexpr int64_t kMaxSamples = 64;          // as Redis
constexpr int64_t kMinBulkBytes = 1 << 20;   // as Redis
constexpr int64_t kMinScriptBytes = 1 << 20;
constexpr int64_t kMinQueryBytes = 1 << 20;  // as Redis

constexpr std::string_view kTlsProtocols[] = {"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"};
constexpr std::string_view kNo[] = {"no"};

constexpr Setting kSettings[] = {
    {.name = "bind",
     .field = &Settings::bind,
     .check = CheckAddresses,
     .changes_live = true,
     .many_words = true},
    {.name = "port", .field = &Settings::port, .max = kMaxPort, .changes_live = true},
    {.name = "protected-mode", .field = &Settings::protected_mode, .changes_live = true},
    {.name = "unixsocket", .field = &Settings::unixsocket},
    {.name = "unixsocketperm", .field = &Settings::unixsocketperm, .max = 0777, .is_octal = true},
    {.name = "tls-port", .field = &Settings::tls_port, .max = kMaxPort, .changes_live = true},
    {.name = "tls-cert-file",
     .field = &Settings::tls_cert_file,
     .is_tls_file = true,
     .changes_live = true},
    {.name = "tls-key-file",
     .field = &Settings::tls_key_file,
     .is_tls_file = true,
     .changes_live = true},
    {.name = "tls-key-file-pass",
     .field = &Settings::tls_key_file_pass,
     .changes_live = true,
     .is_secret = true},
    {.name = "tls-client-cert-file",
     .field = &Settings::tls_client_cert_file,
     .is_tls_file = true,
     .changes_live = true},
    {.name = "tls-client-key-file",
     .field = &Settings::tls_client_key_file,
     .is_tls_file = true,
     .changes_live = true},
    {.name = "tls-client-key-file-pass",
     .field = &Settings::tls_client_key_file_pass,
     .changes_live = true,
     .is_secret = true},
    {.name = "tls-ca-cert-file",
     .field = &Settings::tls_ca_cert_file,
     .is_tls_file = true,
     .changes_live = true},
    {.name = "tls-ca-cert-dir",
     .field = &Settings::tls_ca_cert_dir,
     .is_tls_file = true,
     .changes_live = true},
    {.name = "tls-auth-clients", .field = &Settings::tls_auth_clients, .changes_live = true},
    {.name = "tls-protocols",
     .field = &Settings::tls_protocols,
     .choices = kTlsProtocols,
     .changes_live = true,
     .many_words = true},
    {.name = "tls-ciphers", .field = &Settings::tls_ciphers, .changes_live = true},
    {.name = "tls-ciphersuites", .field = &Settings::tls_ciphersuites, .changes_live = true},
    {.name = "tls-prefer-server-ciphers",
     .field = &Settings::tls_prefer_server_ciphers,
     .changes_live = true},
    {.name = "metrics-port", .field = &Settings::metrics_port, .max = kMaxPort},
    {.name = "metrics-bind",
     .field = &Settings::metrics_bind,
     .check = CheckAddresses,
     .many_words = true},
    {.name = "metrics-hosts", .field = &Settings::metrics_hosts, .many_words = true},
    {.name = "tcp-backlog", .field = &Settings::tcp_backlog, .max = kMaxInt},
    {.name = "io-threads", .field = &Settings::io_threads, .min = 1, .max = kMaxIoThreads},
    {.name = "tcp-keepalive",
     .field = &Settings::tcp_keepalive,
     .max = kMaxKeepAlive,
     .changes_live = true},
    {.name = "timeout", .field = &Settings::timeout, .max = kMaxInt, .changes_live = true},
    {.name = "maxclients",
     .field = &Settings::maxclients,
     .min = 1,
     .max = kMaxUnsigned,
     .changes_live = true},
    {.name = "client-output-buffer-limit",
     .field = &Settings::client_output_buffer_limit,
     .changes_live = true,
     .many_words = true},
    {.name = "rewrite-file", .field = &Settings::rewrite_file, .check = CheckAbsolutePath},
    {.name = "databases", .field = &Settings::databases, .min = 1, .max = kMaxDatabases},
    {.name = "random-seed",
     .field = &Settings::random_seed,
     .min = 0,
     .max = std::numeric_limits<int64_t>::max()},
    {.name = "hz",
     .field = &Settings::hz,
     .max = kMaxInt,
     .least_used = 1,
     .most_used = kMaxTicks,
     .changes_live = true},
    {.name = "loglevel", .field = &Settings::loglevel, .changes_live = true},
    {.name = "logfile", .field = &Settings::logfile},
    {.name = "syslog-enabled", .field = &Settings::syslog_enabled},
    {.name = "syslog-ident", .field = &Settings::syslog_ident, .check = CheckLogName},
    {.name = "syslog-facility", .field = &Settings::syslog_facility},
    {.name = "daemonize", .field = &Settings::daemonize},
    {.name = "pidfile", .field = &Settings::pidfile},
    {.name = "supervised", .field = &Settings::supervised},
    {.name = "shutdown-timeout",
     .field = &Settings::shutdown_timeout,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "shutdown-on-sigterm",
     .field = &Settings::shutdown_on_sigterm,
     .changes_live = true,
     .many_words = true},
    {.name = "shutdown-on-sigint",
     .field = &Settings::shutdown_on_sigint,
     .changes_live = true,
     .many_words = true},
    {.name = "requirepass",
     .field = &Settings::requirepass,
     .changes_live = true,
     .is_secret = true},
    {.name = "acl-pubsub-default", .field = &Settings::acl_pubsub_default, .changes_live = true},
    {.name = "acllog-max-len",
     .field = &Settings::acllog_max_len,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "aclfile", .field = &Settings::aclfile},
    {.name = "enable-debug-command", .field = &Settings::enable_debug_command},
    {.name = "enable-module-command", .field = &Settings::enable_module_command},
    {.name = "enable-protected-configs", .field = &Settings::enable_protected_configs},
    {.name = "scripting", .field = &Settings::scripting},
    {.name = "busy-reply-threshold",
     .alias = "lua-time-limit",
     .field = &Settings::busy_reply_threshold,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "script-memory-limit",
     .field = &Settings::script_memory_limit,
     .min = kMinScriptBytes,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "proto-max-bulk-len",
     .field = &Settings::proto_max_bulk_len,
     .min = kMinBulkBytes,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "client-query-buffer-limit",
     .field = &Settings::client_query_buffer_limit,
     .min = kMinQueryBytes,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "tracking-table-max-keys",
     .field = &Settings::tracking_table_max_keys,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "slowlog-log-slower-than",
     .alias = "commandlog-execution-slower-than",
     .field = &Settings::slowlog_log_slower_than,
     .min = -1,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "slowlog-max-len",
     .alias = "commandlog-slow-execution-max-len",
     .field = &Settings::slowlog_max_len,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "latency-monitor-threshold",
     .field = &Settings::latency_monitor_threshold,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "latency-tracking", .field = &Settings::latency_tracking, .changes_live = true},
    {.name = "latency-tracking-info-percentiles",
     .field = &Settings::latency_tracking_info_percentiles,
     .changes_live = true,
     .many_words = true},
    {.name = "notify-keyspace-events",
     .field = &Settings::notify_keyspace_events,
     .changes_live = true},
    {.name = "lazyfree-lazy-eviction",
     .field = &Settings::lazyfree_lazy_eviction,
     .changes_live = true},
    {.name = "lazyfree-lazy-expire",
     .field = &Settings::lazyfree_lazy_expire,
     .changes_live = true},
    {.name = "lazyfree-lazy-server-del",
     .field = &Settings::lazyfree_lazy_server_del,
     .changes_live = true},
    {.name = "lazyfree-lazy-user-del",
     .field = &Settings::lazyfree_lazy_user_del,
     .changes_live = true},
    {.name = "lazyfree-lazy-user-flush",
     .field = &Settings::lazyfree_lazy_user_flush,
     .changes_live = true},
    {.name = "activedefrag",
     .field = &Settings::activedefrag,
     .choices = kNo,
     .why_no_other = "memory is not defragmented: the only value is no",
     .changes_live = true},
    {.name = "activerehashing", .field = &Settings::activerehashing, .changes_live = true},
    {.name = "dynamic-hz", .field = &Settings::dynamic_hz, .changes_live = true},
    {.name = "active-expire-effort",
     .field = &Settings::active_expire_effort,
     .min = 1,
     .max = 10,
     .changes_live = true},
    {.name = "jemalloc-bg-thread", .field = &Settings::jemalloc_bg_thread, .changes_live = true},
    {.name = "zset-refuse-inexact-integers",
     .field = &Settings::zset_refuse_inexact_integers,
     .changes_live = true},
    {.name = "zset-max-listpack-entries",
     .alias = "zset-max-ziplist-entries",
     .field = &Settings::zset_max_listpack_entries,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "zset-max-listpack-value",
     .alias = "zset-max-ziplist-value",
     .field = &Settings::zset_max_listpack_value,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "hash-max-listpack-entries",
     .alias = "hash-max-ziplist-entries",
     .field = &Settings::hash_max_listpack_entries,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "hash-max-listpack-value",
     .alias = "hash-max-ziplist-value",
     .field = &Settings::hash_max_listpack_value,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "set-max-intset-entries",
     .field = &Settings::set_max_intset_entries,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "set-max-listpack-entries",
     .field = &Settings::set_max_listpack_entries,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "set-max-listpack-value",
     .field = &Settings::set_max_listpack_value,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "list-max-listpack-size",
     .alias = "list-max-ziplist-size",
     .field = &Settings::list_max_listpack_size,
     .min = kMinInt,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "hll-sparse-max-bytes",
     .field = &Settings::hll_sparse_max_bytes,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "stream-node-max-bytes",
     .field = &Settings::stream_node_max_bytes,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "stream-node-max-entries",
     .field = &Settings::stream_node_max_entries,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "stream-idmp-duration",
     .field = &Settings::stream_idmp_duration,
     .min = 1,
     .max = Producers::kMostSeconds,
     .changes_live = true},
    {.name = "stream-idmp-maxsize",
     .field = &Settings::stream_idmp_maxsize,
     .min = 1,
     .max = Producers::kMostIds,
     .changes_live = true},
    {.name = "list-compress-depth",
     .field = &Settings::list_compress_depth,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "maxmemory",
     .field = &Settings::maxmemory,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "maxmemory-policy", .field = &Settings::maxmemory_policy, .changes_live = true},
    {.name = "maxmemory-samples",
     .field = &Settings::maxmemory_samples,
     .min = 1,
     .max = kMaxSamples,
     .changes_live = true},
    {.name = "maxmemory-eviction-tenacity",
     .field = &Settings::maxmemory_eviction_tenacity,
     .max = 100,
     .changes_live = true},
    {.name = "maxmemory-clients",
     .field = &Settings::maxmemory_clients,
     .max = kMaxSize,
     .is_size = true,
     .or_percent = true,
     .changes_live = true},
    {.name = "lfu-log-factor",
     .field = &Settings::lfu_log_factor,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "lfu-decay-time",
     .field = &Settings::lfu_decay_time,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "dir", .field = &Settings::dir, .changes_live = true, .is_protected = true},
    {.name = "dbfilename",
     .field = &Settings::dbfilename,
     .check = CheckSnapshotName,
     .changes_live = true,
     .is_protected = true},
    {.name = "save", .field = &Settings::save, .changes_live = true, .many_words = true},
    {.name = "rdbcompression", .field = &Settings::rdbcompression, .changes_live = true},
    {.name = "rdbchecksum", .field = &Settings::rdbchecksum},
    {.name = "stop-writes-on-bgsave-error",
     .field = &Settings::stop_writes_on_bgsave_error,
     .changes_live = true},
    {.name = "rdb-save-incremental-fsync",
     .field = &Settings::rdb_save_incremental_fsync,
     .changes_live = true},
    {.name = "rdb-del-sync-files", .field = &Settings::rdb_del_sync_files, .changes_live = true},
    {.name = "rdb-skip-unknown", .field = &Settings::rdb_skip_unknown, .changes_live = true},
    {.name = "appendonly", .field = &Settings::appendonly, .changes_live = true},
    {.name = "appendfsync", .field = &Settings::appendfsync, .changes_live = true},
    {.name = "appendfilename", .field = &Settings::appendfilename, .check = CheckLogFileName},
    {.name = "appenddirname", .field = &Settings::appenddirname, .check = CheckLogDirectoryName},
    {.name = "no-appendfsync-on-rewrite",
     .field = &Settings::no_appendfsync_on_rewrite,
     .changes_live = true},
    {.name = "auto-aof-rewrite-percentage",
     .field = &Settings::auto_aof_rewrite_percentage,
     .min = 0,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "auto-aof-rewrite-min-size",
     .field = &Settings::auto_aof_rewrite_min_size,
     .min = 0,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "aof-load-truncated", .field = &Settings::aof_load_truncated, .changes_live = true},
    {.name = "aof-load-corrupt-tail-max-size",
     .field = &Settings::aof_load_corrupt_tail_max_size,
     .min = 0,
     .max = kMaxSize,
     .is_size = true,
     .changes_live = true},
    {.name = "aof-timestamp-enabled",
     .field = &Settings::aof_timestamp_enabled,
     .changes_live = true},
    {.name = "aof-rewrite-incremental-fsync",
     .field = &Settings::aof_rewrite_incremental_fsync,
     .changes_live = true},
};

// Those that follow the settings of a cluster.
constexpr Setting kSettingsAfterCluster[] = {
    {.name = "replicaof",
     .alias = "slaveof",
     .field = &Settings::replicaof,
     .check = CheckMaster,
     .many_words = true},
    {.name = "masteruser",
     .alias = "primaryuser",
     .field = &Settings::masteruser,
     .changes_live = true,
     .is_secret = true},
    {.name = "masterauth",
     .alias = "primaryauth",
     .field = &Settings::masterauth,
     .changes_live = true,
     .is_secret = true},
    {.name = "tls-replication", .field = &Settings::tls_replication, .changes_live = true},
    {.name = "repl-timeout",
     .field = &Settings::repl_timeout,
     .min = 1,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "repl-ping-replica-period",
     .alias = "repl-ping-slave-period",
     .field = &Settings::repl_ping_replica_period,
     .min = 1,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "repl-disable-tcp-nodelay",
     .field = &Settings::repl_disable_tcp_nodelay,
     .changes_live = true},
    {.name = "repl-backlog-size",
     .field = &Settings::repl_backlog_size,
     .min = 1,
     .max = kMaxSize,
     .least_used = kLeastBacklog,
     .is_size = true,
     .changes_live = true},
    {.name = "repl-backlog-ttl",
     .field = &Settings::repl_backlog_ttl,
     .max = kMaxSize,
     .changes_live = true},
    {.name = "repl-diskless-sync", .field = &Settings::repl_diskless_sync, .changes_live = true},
    {.name = "repl-diskless-sync-delay",
     .field = &Settings::repl_diskless_sync_delay,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "repl-diskless-sync-max-replicas",
     .field = &Settings::repl_diskless_sync_max_replicas,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "repl-diskless-load", .field = &Settings::repl_diskless_load, .changes_live = true},
    {.name = "propagation-compatibility",
     .field = &Settings::propagation_compatibility,
     .changes_live = true},
    {.name = "replica-serve-stale-data",
     .alias = "slave-serve-stale-data",
     .field = &Settings::replica_serve_stale_data,
     .changes_live = true},
    {.name = "replica-read-only",
     .alias = "slave-read-only",
     .field = &Settings::replica_read_only,
     .changes_live = true},
    {.name = "replica-ignore-maxmemory",
     .alias = "slave-ignore-maxmemory",
     .field = &Settings::replica_ignore_maxmemory,
     .changes_live = true},
    {.name = "replica-priority",
     .alias = "slave-priority",
     .field = &Settings::replica_priority,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "replica-announced", .field = &Settings::replica_announced, .changes_live = true},
    {.name = "replica-announce-ip",
     .alias = "slave-announce-ip",
     .field = &Settings::replica_announce_ip,
     .changes_live = true},
    {.name = "replica-announce-port",
     .alias = "slave-announce-port",
     .field = &Settings::replica_announce_port,
     .max = kMaxPort,
     .changes_live = true},
    {.name = "min-replicas-to-write",
     .alias = "min-slaves-to-write",
     .field = &Settings::min_replicas_to_write,
     .max = kMaxInt,
     .changes_live = true},
    {.name = "min-replicas-max-lag",
     .alias = "min-slaves-max-lag",
     .field = &Settings::min_replicas_max_lag,
     .max = kMaxInt,
     .changes_live = true},
};

}  // namespace

std::span<const Setting> AllSettings() {
  static const std::vector<Setting> kAll = [] {
    std::vector<Setting> all;
    for (const std::span<const Setting> part :
         {std::span<const Setting>(kSettings), ClusterSettings(),
          std::span<const Setting>(kSettingsAfterCluster), SettingsWithoutEffect()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kAll;
}

const Setting* FindSetting(std::string_view name) {
  for (const Setting& setting : AllSettings()) {
    if (EqualsIgnoringCase(setting.name, name)) return &setting;
    if (!setting.alias.empty() && EqualsIgnoringCase(setting.alias, name)) return &setting;
  }
  return nullptr;
}

namespace {

// These may have no words in a file. The output limits then stay, the others become empty.
constexpr std::string_view kMayHaveNoWords[] = {"bind",
                                                "client-output-buffer-limit",
                                                "latency-tracking-info-percentiles",
                                                "metrics-bind",
                                                "metrics-hosts",
                                                "save"};

// Reads the value of a setting that may have many words.
absl::Status SetManyWords(const Setting& setting, Args values, Settings& settings) {
  if (values.empty() &&
      std::ranges::find(kMayHaveNoWords, setting.name) == std::end(kMayHaveNoWords)) {
    return Refusal("wrong number of arguments");
  }
  // As in Redis, a single word is split once more: "900 1" is two words, and '""' an empty one.
  const std::optional<std::vector<std::string>> parts =
      values.size() == 1 ? SplitWords(values[0]) : std::vector<std::string>();
  if (!parts) return Refusal("Unbalanced quotes in configuration line");
  std::vector<std::string_view> words(parts->begin(), parts->end());
  if (values.size() > 1) words.assign(values.begin(), values.end());
  if (values.size() == 1 && words.empty()) words.emplace_back();
  if (setting.name == "save") return settings.save.ReadMore(words);
  if (setting.name == "client-output-buffer-limit" && words.empty()) return absl::OkStatus();
  std::string value;
  for (const std::string_view word : words) {
    if (!value.empty()) value += ' ';
    // An empty word is a value; among others it is one that is refused.
    value += word.empty() && words.size() > 1 ? "\"\"" : word;
  }
  return SetValue(setting, settings, value);
}

}  // namespace

absl::Status SetFromWords(Args words, Settings& settings) {
  if (EqualsIgnoringCase(words[0], "user") && words.size() > 1) {
    settings.users.emplace_back(words.begin() + 1, words.end());
    return absl::OkStatus();
  }
  if (EqualsIgnoringCase(words[0], "rename-command") && words.size() == 3) {
    settings.renamed_commands.emplace_back(words[1], words[2]);
    return absl::OkStatus();
  }
  if (const RefusedDirective* const refused = FindRefusedDirective(words[0])) {
    return Refusal(refused->reason);
  }
  if (IsObsoleteDirective(words[0])) {
    settings.without_effect.insert_or_assign(LowerCase(words[0]), std::string());
    return absl::OkStatus();
  }
  const Setting* const setting = FindSetting(words[0]);
  if (setting == nullptr) {
    const std::string_view nearest = SuggestedSetting(words[0]);
    const std::string question =
        nearest.empty() ? "" : ". Did you mean '" + std::string(nearest) + "'?";
    return Refusal("Bad directive or wrong number of arguments" + question);
  }
  const Args values = words.subspan(1);
  if (setting->many_words) return SetManyWords(*setting, values, settings);
  if (values.size() != 1) return Refusal("wrong number of arguments");
  return SetValue(*setting, settings, values[0]);
}

}  // namespace zsetd
