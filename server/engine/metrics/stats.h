#pragma once

#include <cstdint>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/metrics/error_counts.h"
#include "server/engine/metrics/network_counters.h"

namespace zsetd {

// The server's counters since its start or since CONFIG RESETSTAT.
struct Stats {
  uint64_t connections_received = 0;
  uint64_t connections_rejected = 0;
  uint64_t commands_processed = 0;
  uint64_t rounds = 0;     // of the event loop
  Micros round_time{0};    // that these took, waiting for events left out
  Micros command_time{0};  // that the commands took
  uint64_t error_replies = 0;
  ErrorCounts errors;
  NetworkCounters network;
  uint64_t stalled_disconnections = 0;  // of clients that did not read (client-output-buffer-limit)
  uint64_t flooding_disconnections = 0;  // of those that sent too much (client-query-buffer-limit)
  uint64_t expired_keys = 0;
  uint64_t expired_elements = 0;    // members of sorted sets and fields of hashes
  uint64_t expiries_cut_short = 0;  // ticks that had no time left to free all that was due
  Micros expiry_time{0};            // that freeing it took
  uint64_t denied_commands = 0;     // by the rules of a user, as the next two
  uint64_t denied_keys = 0;
  uint64_t denied_channels = 0;
  uint64_t denied_logins = 0;
  uint64_t evicted_keys = 0;
  uint64_t evicted_clients = 0;
  Micros memory_short_time{0};  // for which more than maxmemory was used, up to the last time
  uint64_t keyspace_hits = 0;
  uint64_t keyspace_misses = 0;

  void CountError(std::string_view line) {
    ++error_replies;
    errors.Add(line);
  }
};

}  // namespace zsetd
