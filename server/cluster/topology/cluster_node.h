#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace zsetd {

// The length of a node's name, and of a shard's: hexadecimal digits in lower case.
inline constexpr size_t kNodeIdLength = 40;

bool IsNodeId(std::string_view text);

// A node of the cluster as this one knows it, without its slots.
struct ClusterNode {
  std::string id;
  std::string shard_id;  // empty: unknown
  std::string ip;        // empty: unknown
  std::string hostname;  // empty: none
  int64_t port = 0;      // without TLS; 0: none
  int64_t tls_port = 0;  // 0: none
  int64_t bus_port = 0;
  std::string master_id;  // empty: it is a master, or a replica of an unknown one
  bool is_replica = false;
  bool may_have_failed = false;  // "fail?"
  bool has_failed = false;       // "fail"
  bool in_handshake = false;
  bool has_no_address = false;
  bool never_fails_over = false;
  int64_t ping_sent = 0;      // milliseconds since 1970; 0: no ping is pending
  int64_t pong_received = 0;  // the same
  uint64_t config_epoch = 0;
};

}  // namespace zsetd
