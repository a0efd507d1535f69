#pragma once

#include <cstdint>
#include <string>

namespace zsetd {

// The settings of a node that concern the bus, and its addresses. Durations are milliseconds.
struct BusSettings {
  int64_t node_timeout = 15'000;            // cluster-node-timeout
  int64_t ping_interval = 1'000;            // cluster-ping-interval
  int64_t replica_validity_factor = 10;     // cluster-replica-validity-factor; 0: always valid
  int64_t migration_barrier = 1;            // cluster-migration-barrier
  int64_t replica_ping_period = 10'000;     // repl-ping-replica-period
  int64_t manual_failover_timeout = 5'000;  // cluster-manual-failover-timeout
  int64_t forgotten_for = 60'000;           // cluster-blacklist-ttl
  bool allow_replica_migration = true;      // cluster-allow-replica-migration
  bool never_fails_over = false;            // cluster-replica-no-failover
  bool require_full_coverage = true;        // cluster-require-full-coverage
  bool uses_tls = false;  // tls-cluster: the first port of a message is that of TLS

  std::string announced_ip;        // cluster-announce-ip; empty: the peers find it out
  std::string announced_hostname;  // empty: none
  std::string human_name;          // cluster-announce-human-nodename; empty: none
  int64_t port = 0;                // announced or listened on, without TLS; 0: none
  int64_t tls_port = 0;            // the same, with TLS
  int64_t bus_port = 0;
};

}  // namespace zsetd
