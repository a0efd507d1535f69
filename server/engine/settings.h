#pragma once

#include <cstdint>
#include <string>

namespace zsetd {

// Every setting with its default and its meaning; settings_table.h has a row for each, which gives
// the name, the bounds and whether it may change while the server runs.
struct Settings {
  std::string bind = "127.0.0.1 -::1";  // addresses; one after a minus need not exist
  int64_t port = 6379;
  int64_t tcp_backlog = 511;
  int64_t tcp_keepalive = 300;  // seconds between probes of a silent connection; 0: none
  int64_t timeout = 0;          // seconds until an idle client is closed; 0: never
  int64_t maxclients = 10000;
  int64_t databases = 16;
  int64_t hz = 10;  // ticks a second, beside those for deadlines
  std::string loglevel = "notice";
  std::string logfile;  // empty: standard output
  std::string requirepass;
  int64_t proto_max_bulk_len = 512 << 20;

  // Up to which size OBJECT ENCODING says listpack.
  int64_t zset_max_listpack_entries = 128;
  int64_t zset_max_listpack_value = 64;
  int64_t list_max_listpack_size = -2;  // entries, or -1 .. -5 for 4 KB .. 64 KB
};

}  // namespace zsetd
