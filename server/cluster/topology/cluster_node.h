#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/cluster/topology/slot_set.h"

namespace zsetd {

// The length of a node's name, and of a shard's: hexadecimal digits in lower case.
inline constexpr size_t kNodeIdLength = 40;

// The nodes that a node can know.
inline constexpr size_t kMostClusterNodes = 16384;

// The greatest epoch that a peer may state. A node that counts on from it stays within what
// nodes.conf can contain.
inline constexpr uint64_t kMostEpoch = uint64_t{1} << 62;

// The greatest one that an administrator or a grant may state. No cluster counts on from it to
// kMostEpoch.
inline constexpr uint64_t kMostStatedEpoch = uint64_t{1} << 48;

bool IsNodeId(std::string_view text);

// Identifies a connection of the bus. 0: none.
using LinkId = uint64_t;

// A node of the cluster as this one knows it. Instants are milliseconds since 1970; 0: never.
struct ClusterNode {
  std::string id;
  std::string shard_id;    // empty: unknown
  std::string ip;          // empty: unknown
  std::string hostname;    // empty: none
  std::string human_name;  // the name in log lines; empty: none
  int64_t port = 0;        // without TLS; 0: none
  int64_t tls_port = 0;    // 0: none
  int64_t bus_port = 0;
  std::string master_id;  // empty: it is a master, or a replica of an unknown one
  bool is_replica = false;
  bool may_have_failed = false;  // "fail?"
  bool has_failed = false;       // "fail"
  bool in_handshake = false;     // its name is random until it replies
  bool has_no_address = false;
  bool never_fails_over = false;
  int64_t ping_sent = 0;  // 0: no ping is pending
  int64_t pong_received = 0;
  uint64_t config_epoch = 0;

  // The rest is not saved.

  LinkId link = 0;          // that this node opened; it may still be connecting
  LinkId inbound_link = 0;  // that the other node opened

  bool sends_meet = false;           // the first message of a new link is MEET
  bool accepts_replicas = false;     // replicas of other shards may migrate to this master
  bool supports_extensions = false;  // of messages
  int64_t created = 0;
  int64_t data_received = 0;       // of any message
  int64_t fail_time = 0;           // the start of `has_failed`
  int64_t voted_time = 0;          // of the last vote for a replica of this master
  int64_t orphaned_time = 0;       // the first check that found this master without replicas
  int64_t replication_offset = 0;  // as it reported
  int64_t offset_time = 0;         // of that report

  bool IsMaster() const { return !is_replica; }
  bool IsReachable() const { return !may_have_failed && !has_failed; }
  bool HasSlots() const { return !slots.empty(); }

  SlotSet slots;  // maintained by Topology::SetOwner()
};

}  // namespace zsetd
