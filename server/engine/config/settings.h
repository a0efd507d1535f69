#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/config/keyspace_event_flags.h"
#include "server/engine/config/output_limits.h"
#include "server/engine/config/save_points.h"
#include "server/engine/support/percentiles.h"

namespace zsetd {

// Every setting with its default and its meaning; settings_table.cc has a row for each, with the
// name, the bounds and whether it may change while the server runs.
struct Settings {
  std::string bind = "127.0.0.1 -::1";  // addresses; one after a minus need not exist
  int64_t port = 6379;                  // 0: none
  bool protected_mode = true;
  std::string unixsocket;      // its path; empty: there is none
  int64_t unixsocketperm = 0;  // of that file; 0: what the process is allowed

  // TLS. Files are in PEM.
  int64_t tls_port = 0;  // 0: none
  std::string tls_cert_file;
  std::string tls_key_file;
  std::string tls_key_file_pass;
  std::string tls_ca_cert_file;  // authorities of clients' certificates
  std::string tls_ca_cert_dir;
  std::string tls_auth_clients = "yes";  // whether they need certificates: no, optional
  std::string tls_protocols;             // "TLSv1.2 TLSv1.3"; empty: both
  std::string tls_ciphers;               // before TLS 1.3, in OpenSSL's syntax; empty: its default
  std::string tls_ciphersuites;          // of TLS 1.3
  bool tls_prefer_server_ciphers = false;
  int64_t tls_files_named = 0;  // how often: a file that is named again is to be read again

  int64_t tcp_backlog = 511;    // connections that wait to be accepted
  int64_t tcp_keepalive = 300;  // seconds of silence until a connection is probed; 0: never
  int64_t timeout = 0;          // seconds until an idle client is closed; 0: never
  int64_t maxclients = 10000;
  OutputLimits client_output_buffer_limit;
  int64_t databases = 16;
  int64_t random_seed = 0;  // of all random numbers and hashes; 0: random at each start
  int64_t hz = 10;          // ticks a second, beside those for deadlines
  std::string loglevel = "notice";
  std::string logfile;          // empty: standard output
  bool syslog_enabled = false;  // the log goes to the system's, too
  std::string syslog_ident = "zsetd";
  std::string syslog_facility = "local0";

  bool daemonize = false;         // not where `supervised` finds a supervisor
  std::string pidfile;            // empty: there is none, but that of a daemon
  std::string supervised = "no";  // upstart, systemd, or auto: whichever the environment shows
  int64_t shutdown_timeout = 10;  // seconds for clients that do not read their last replies

  std::string requirepass;  // the default user's password; empty: none is asked for
  std::string acl_pubsub_default =
      "resetchannels";           // channel permissions of new users: that, or allchannels
  int64_t acllog_max_len = 128;  // entries of ACL LOG
  std::string aclfile;           // of the users; empty: there is none
  // Who may use dangerous commands: no client, all (yes), or those on this machine (local).
  std::string enable_debug_command = "no";      // DEBUG
  std::string enable_module_command = "no";     // MODULE
  std::string enable_protected_configs = "no";  // change protected settings

  bool scripting = true;                    // whether there are EVAL and functions at all
  int64_t busy_reply_threshold = 5000;      // milliseconds a script runs before others hear BUSY
  int64_t script_memory_limit = 512 << 20;  // bytes that the scripts' interpreter may take

  int64_t proto_max_bulk_len = 512 << 20;
  int64_t client_query_buffer_limit = 1 << 30;  // bytes that are kept of what a client sends
  int64_t tracking_table_max_keys = 1'000'000;  // 0: no limit

  int64_t slowlog_log_slower_than = 10000;  // microseconds; negative: disabled
  int64_t slowlog_max_len = 128;

  int64_t latency_monitor_threshold = 0;  // milliseconds that are remembered as long; 0: none
  bool latency_tracking = true;           // whether it is counted how long each command takes
  Percentiles latency_tracking_info_percentiles;

  KeyspaceEventFlags notify_keyspace_events;

  // Without effect: large values are always freed in the background.
  bool lazyfree_lazy_eviction = false;
  bool lazyfree_lazy_expire = false;
  bool lazyfree_lazy_server_del = false;
  bool lazyfree_lazy_user_del = false;
  bool lazyfree_lazy_user_flush = false;
  std::string activedefrag = "no";

  // Accepted for test suites and tools, without effect.
  bool activerehashing = true;       // tables grow and shrink a little with each change
  bool dynamic_hz = true;            // ticks come when there is something to do
  int64_t active_expire_effort = 1;  // what is due is freed at its time
  bool jemalloc_bg_thread = true;    // memory that was freed goes back within seconds

  // The size up to which OBJECT ENCODING reports listpack.
  int64_t zset_max_listpack_entries = 128;
  int64_t zset_max_listpack_value = 64;
  int64_t hash_max_listpack_entries = 512;
  int64_t hash_max_listpack_value = 64;
  int64_t set_max_intset_entries = 512;  // intset, of integers alone
  int64_t set_max_listpack_entries = 128;
  int64_t set_max_listpack_value = 64;
  int64_t list_max_listpack_size = -2;  // entries, or -1 .. -5 for 4 KB .. 64 KB

  int64_t list_compress_depth = 0;  // without effect: lists are not compressed

  int64_t maxmemory = 0;  // bytes in use until keys are evicted; 0: no limit
  std::string maxmemory_policy = "noeviction";
  int64_t maxmemory_samples = 5;             // keys looked at for each that is evicted by its use
  int64_t maxmemory_eviction_tenacity = 10;  // how long clients are kept waiting for evictions
  int64_t maxmemory_clients = 0;             // bytes of all client buffers; negative: percent
                                             // of maxmemory; 0: no limit
  int64_t lfu_log_factor = 10;  // how much less likely each next step of a count of uses is
  int64_t lfu_decay_time = 1;   // minutes in which such a count falls by one; 0: it does not

  // Snapshots: all data in a file of Redis's format.
  std::string dir = "./";               // where the server runs, and has its files
  std::string dbfilename = "dump.rdb";  // of the snapshot, in that directory
  SavePoints save;                      // when one is taken without being asked for
  bool rdbcompression = true;
  bool rdbchecksum = true;
  bool stop_writes_on_bgsave_error = true;
  bool rdb_save_incremental_fsync = true;
  bool rdb_del_sync_files = false;  // says nothing here: no files are made for replicas
  bool rdb_skip_unknown = false;    // keys of types that cannot be kept here are left out

  // The append-only log: every change, appended to files of Redis's format.
  bool appendonly = false;
  std::string appendfsync = "everysec";           // when it is synced: "always", "everysec" or "no"
  std::string appendfilename = "appendonly.aof";  // how the names of its files begin
  std::string appenddirname = "appendonlydir";    // where they are, in `dir`
  bool no_appendfsync_on_rewrite = false;         // as "no" while it is rewritten
  int64_t auto_aof_rewrite_percentage = 100;      // growth at which it is rewritten; 0: never
  int64_t auto_aof_rewrite_min_size = 64 << 20;   // but not while it is smaller
  bool aof_load_truncated = true;                 // an end that is cut off is removed at the start
  int64_t aof_load_corrupt_tail_max_size = 0;     // so is one that is damaged, of so many bytes
  bool aof_timestamp_enabled = false;
  bool aof_rewrite_incremental_fsync = true;

  // Lines of the file and the command line that may occur several times.
  std::vector<std::vector<std::string>> users;                        // the words after `user`
  std::vector<std::pair<std::string, std::string>> renamed_commands;  // and their new names

  // What was given for settings that have no effect here (NoEffect in setting_row.h), by their
  // names.
  std::map<std::string, std::string, std::less<>> without_effect;

  bool operator==(const Settings&) const = default;
};

}  // namespace zsetd
