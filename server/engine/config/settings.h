#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/config/keyspace_event_flags.h"
#include "server/engine/config/output_limits.h"
#include "server/engine/config/save_points.h"
#include "server/engine/config/setting_choices.h"
#include "server/engine/config/shutdown_options.h"
#include "server/engine/support/percentiles.h"

namespace zsetd {

// Every setting with its default and its meaning; settings_table.cc has a row for each, with the
// name, the bounds and whether it may change while the server runs.
struct Settings {
  std::string bind = "127.0.0.1 -::1";  // addresses; after a minus, one that may be missing
  int64_t port = 6379;                  // 0: none
  bool protected_mode = true;
  std::string unixsocket;      // its path; empty: none
  int64_t unixsocketperm = 0;  // its permissions; 0: those of the umask

  // TLS. Files are in PEM.
  int64_t tls_port = 0;  // 0: none
  std::string tls_cert_file;
  std::string tls_key_file;
  std::string tls_key_file_pass;
  std::string tls_client_cert_file;  // for connections that this server opens; empty: the above
  std::string tls_client_key_file;
  std::string tls_client_key_file_pass;
  std::string tls_ca_cert_file;  // authorities of clients' certificates
  std::string tls_ca_cert_dir;
  TlsAuthClients tls_auth_clients = TlsAuthClients::kYes;
  std::string tls_protocols;     // "TLSv1.2 TLSv1.3"; empty: both
  std::string tls_ciphers;       // before TLS 1.3, in OpenSSL's syntax; empty: its default
  std::string tls_ciphersuites;  // of TLS 1.3
  bool tls_prefer_server_ciphers = false;
  int64_t tls_files_named = 0;  // set operations: a file that is set again is read again

  // Metrics for Prometheus, and the page, over HTTP.
  int64_t metrics_port = 0;  // 0: none
  std::string metrics_bind = "127.0.0.1 -::1";
  std::string metrics_hosts;  // the names that a Host header may have

  int64_t tcp_backlog = 511;    // connections that wait to be accepted
  int64_t io_threads = 1;       // that serve clients
  int64_t tcp_keepalive = 300;  // seconds of silence until a connection is probed; 0: never
  int64_t timeout = 0;          // seconds until an idle client is closed; 0: never
  int64_t maxclients = 10000;
  OutputLimits client_output_buffer_limit;
  std::string rewrite_file;  // CONFIG REWRITE writes it; empty: the configuration file
  int64_t databases = 16;
  int64_t random_seed = 0;  // of random numbers and hashes, not of IDs; 0: random at each start
  int64_t hz = 10;          // ticks per second, in addition to those for deadlines
  LogLevel loglevel = LogLevel::kNotice;
  std::string logfile;          // empty: standard output
  bool syslog_enabled = false;  // log to the system's log too
  std::string syslog_ident = "zsetd";
  SyslogFacility syslog_facility = SyslogFacility::kLocal0;

  bool daemonize = false;  // no effect if `supervised` finds a supervisor
  std::string pidfile;     // empty: none, except of a daemon
  Supervision supervised = Supervision::kNo;
  int64_t shutdown_timeout = 10;  // seconds for replicas that lag, and for unread replies
  ShutdownOptions shutdown_on_sigterm;
  ShutdownOptions shutdown_on_sigint;

  std::string requirepass;  // the default user's password; empty: none
  AclPubsubDefault acl_pubsub_default = AclPubsubDefault::kResetChannels;
  int64_t acllog_max_len = 128;                                     // entries of ACL LOG
  std::string aclfile;                                              // of the users; empty: none
  DangerousAccess enable_debug_command = DangerousAccess::kNo;      // DEBUG
  DangerousAccess enable_module_command = DangerousAccess::kNo;     // MODULE
  DangerousAccess enable_protected_configs = DangerousAccess::kNo;  // change protected settings

  bool scripting = true;                    // whether EVAL and functions exist
  int64_t busy_reply_threshold = 5000;      // milliseconds of a script until other clients get BUSY
  int64_t script_memory_limit = 512 << 20;  // bytes that the script interpreter may use

  int64_t proto_max_bulk_len = 512 << 20;
  int64_t client_query_buffer_limit = 1 << 30;  // bytes of unprocessed input of a client
  int64_t tracking_table_max_keys = 1'000'000;  // 0: no limit

  int64_t slowlog_log_slower_than = 10000;  // microseconds; negative: disabled
  int64_t slowlog_max_len = 128;

  int64_t latency_monitor_threshold = 0;  // milliseconds from which an event is recorded; 0: never
  bool latency_tracking = true;           // whether durations of commands are counted
  Percentiles latency_tracking_info_percentiles;

  KeyspaceEventFlags notify_keyspace_events;

  // No effect: large values are always freed in the background.
  bool lazyfree_lazy_eviction = false;
  bool lazyfree_lazy_expire = false;
  bool lazyfree_lazy_server_del = false;
  bool lazyfree_lazy_user_del = false;
  bool lazyfree_lazy_user_flush = false;
  std::string activedefrag = "no";

  // No effect; accepted for test suites and tools.
  bool activerehashing = true;       // tables are resized in steps, with each change
  bool dynamic_hz = true;            // ticks occur only when there is work
  int64_t active_expire_effort = 1;  // keys are freed when they expire
  bool jemalloc_bg_thread = true;    // freed memory is returned within seconds

  bool zset_refuse_inexact_integers = false;  // as scores that are not what the client wrote

  // The size up to which OBJECT ENCODING reports listpack.
  int64_t zset_max_listpack_entries = 128;
  int64_t zset_max_listpack_value = 64;
  int64_t hash_max_listpack_entries = 512;
  int64_t hash_max_listpack_value = 64;
  int64_t set_max_intset_entries = 512;  // intset, of integers alone
  int64_t set_max_listpack_entries = 128;
  int64_t set_max_listpack_value = 64;
  int64_t list_max_listpack_size = -2;  // entries, or -1 .. -5 for 4 KB .. 64 KB

  int64_t hll_sparse_max_bytes = 3000;  // up to which a HyperLogLog may be encoded sparsely

  // The size up to which entries of a stream share a block; 0: no limit.
  int64_t stream_node_max_bytes = 4096;
  int64_t stream_node_max_entries = 100;
  int64_t stream_idmp_duration = 100;  // seconds
  int64_t stream_idmp_maxsize = 100;

  int64_t list_compress_depth = 0;  // no effect: lists are not compressed

  int64_t maxmemory = 0;  // bytes in use until keys are evicted; 0: no limit
  MaxmemoryPolicy maxmemory_policy = MaxmemoryPolicy::kNoEviction;
  int64_t maxmemory_samples = 5;             // keys sampled for each that is evicted by use
  int64_t maxmemory_eviction_tenacity = 10;  // how long commands wait for evictions
  int64_t maxmemory_clients = 0;             // bytes of all client buffers; negative: percent
                                             // of maxmemory; 0: no limit
  int64_t lfu_log_factor = 10;               // how much less likely each further increment is
  int64_t lfu_decay_time = 1;                // minutes until the counter falls by one; 0: never

  // Snapshots: all data in a file of Redis's format.
  std::string dir = "./";               // the working directory, with the server's files
  std::string dbfilename = "dump.rdb";  // the snapshot, in that directory
  SavePoints save;                      // when to take one automatically
  bool rdbcompression = true;
  bool rdbchecksum = true;
  bool stop_writes_on_bgsave_error = true;
  bool rdb_save_incremental_fsync = true;
  bool rdb_del_sync_files = false;  // no effect: files for replicas are removed
  bool rdb_skip_unknown = false;    // skip keys of unknown types instead of failing

  // The append-only log: every change, appended to files in Redis's format.
  bool appendonly = false;
  AppendFsync appendfsync = AppendFsync::kEverySec;
  std::string appendfilename = "appendonly.aof";  // the prefix of its file names
  std::string appenddirname = "appendonlydir";    // their directory, in `dir`
  bool no_appendfsync_on_rewrite = false;         // do not sync while it is rewritten
  int64_t auto_aof_rewrite_percentage = 100;      // growth at which it is rewritten; 0: never
  int64_t auto_aof_rewrite_min_size = 64 << 20;   // but not a smaller log
  bool aof_load_truncated = true;                 // remove an incomplete end at the start
  int64_t aof_load_corrupt_tail_max_size = 0;     // and a damaged end of up to this size
  bool aof_timestamp_enabled = false;
  bool aof_rewrite_incremental_fsync = true;

  // Replication: of a master, whose replica this server is, or to replicas.
  std::string replicaof;         // "host port" of the master; empty: none
  std::string masteruser;        // that this server is to the master; empty: the default user
  std::string masterauth;        // its password; empty: none
  bool tls_replication = false;  // the connection to the master is encrypted
  int64_t repl_timeout = 60;     // seconds of silence until a link is given up
  int64_t repl_ping_replica_period = 10;  // seconds between two PINGs for replicas
  bool repl_disable_tcp_nodelay = false;  // whether few large packets go to replicas
  int64_t repl_backlog_size = 1 << 20;    // bytes kept for replicas that come back
  int64_t repl_backlog_ttl = 3600;        // seconds without replicas until it is freed; 0: never
  bool repl_diskless_sync = true;         // snapshots are sent while they are taken
  int64_t repl_diskless_sync_delay = 5;   // seconds to wait for more replicas
  int64_t repl_diskless_sync_max_replicas = 0;  // do not wait for more replicas; 0: wait
  DisklessLoad repl_diskless_load = DisklessLoad::kDisabled;
  RedisRelease propagation_compatibility = RedisRelease::k74;
  bool replica_serve_stale_data = true;  // serve the present data without a link
  bool replica_read_only = true;
  bool replica_ignore_maxmemory = true;  // only the master evicts
  int64_t replica_priority = 100;        // for Sentinel, the least first; 0: never promote
  bool replica_announced = true;         // to Sentinel
  std::string replica_announce_ip;       // sent to the master; empty: the connection's
  int64_t replica_announce_port = 0;     // 0: the port that is listened on
  // A node of a cluster (docs/cluster.md).
  bool cluster_enabled = false;
  std::string cluster_config_file = "nodes.conf";
  int64_t cluster_port = 0;                   // of the bus; 0: the port and 10000
  bool cluster_require_full_coverage = true;  // serve nothing unless all slots are served
  bool cluster_allow_reads_when_down = false;
  bool cluster_allow_pubsubshard_when_down = true;
  std::string cluster_announce_ip;  // for clients and nodes, as the next
  std::string cluster_announce_hostname;
  int64_t cluster_announce_port = 0;  // 0: the port that is listened on
  int64_t cluster_announce_tls_port = 0;
  int64_t cluster_announce_bus_port = 0;
  ClusterEndpointType cluster_preferred_endpoint_type = ClusterEndpointType::kIp;
  std::string cluster_announce_human_nodename;  // for logs of other nodes
  bool tls_cluster = false;                     // the links between nodes are encrypted
  int64_t cluster_node_timeout = 15000;         // ms without a pong until a node may have failed
  int64_t cluster_ping_interval = 1000;         // ms between pings of a random node
  int64_t cluster_link_sendbuf_limit = 0;       // bytes; a link with more is closed; 0: no limit
  int64_t cluster_blacklist_ttl = 60;           // seconds for which a forgotten node stays out
  bool cluster_replica_no_failover = false;
  int64_t cluster_replica_validity_factor = 10;    // of the node timeout; 0: data is never too old
  int64_t cluster_manual_failover_timeout = 5000;  // ms
  bool cluster_allow_replica_migration = true;
  int64_t cluster_migration_barrier = 1;               // replicas that a master keeps
  int64_t cluster_slot_migration_log_max_len = 1000;   // ended migrations of slots that are shown
  int64_t slot_migration_max_failover_repl_bytes = 0;  // unsent when writes pause; -1: any number
  bool cluster_slot_stats_enabled = false;             // measure each slot

  int64_t min_replicas_to_write = 0;  // with fewer replicas at hand writes are refused
  int64_t min_replicas_max_lag = 10;  // seconds of silence until one is not at hand; 0: never

  // Lines of the file and the command line that may occur several times.
  std::vector<std::vector<std::string>> users;                        // the words after `user`
  std::vector<std::pair<std::string, std::string>> renamed_commands;  // and their new names

  // The values of settings that have no effect here (NoEffect in setting_row.h), by name.
  std::map<std::string, std::string, std::less<>> without_effect;

  bool operator==(const Settings&) const = default;
};

}  // namespace zsetd
