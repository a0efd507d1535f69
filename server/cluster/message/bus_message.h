// Messages of Redis Cluster's bus. All numbers are big-endian. A message is a header of 2,256 bytes
// and a body that depends on its type; the offsets are in bus_message.cc.
//
//   PING, PONG, MEET        entries about other nodes (gossip), then extensions
//   FAIL                    the name of a node that has failed
//   PUBLISH, PUBLISHSHARD   a channel and a payload
//   UPDATE                  a node, its configuration epoch and its slots
//   AUTH_REQUEST, AUTH_ACK, MFSTART   no body
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/cluster/topology/forgotten_nodes.h"
#include "server/cluster/topology/slot_set.h"

namespace zsetd {

enum class BusMessageType : uint16_t {
  kPing = 0,
  kPong = 1,
  kMeet = 2,
  kFail = 3,
  kPublish = 4,
  kAuthRequest = 5,
  kAuthAck = 6,
  kUpdate = 7,
  kManualFailoverStart = 8,
  kModule = 9,  // ignored
  kPublishShard = 10,
};

inline constexpr size_t kBusMessageTypes = 11;

// The name of a type in CLUSTER INFO: "ping", "auth-req".
std::string_view BusMessageName(BusMessageType type);

// The longest message of a peer that is not known to be a node: a PING or MEET about all nodes.
inline constexpr size_t kMostBytesOfStranger = 2u << 20;

// The number of bytes from which BusMessageLength() finds the length of a message.
inline constexpr size_t kBusPrefixBytes = 16;

// The length of the whole message that starts with `prefix`, at least the header's. Nullopt: this
// is no message, or it is longer than its type may be, and the link must be closed. `prefix` has
// kBusPrefixBytes at least.
std::optional<size_t> BusMessageLength(std::string_view prefix);

// The flags of a node, in the header of its messages and in gossip about it.
enum BusNodeFlag : uint16_t {
  kBusMaster = 1,
  kBusReplica = 2,
  kBusMayHaveFailed = 4,
  kBusHasFailed = 8,
  kBusMyself = 16,
  kBusHandshake = 32,
  kBusNoAddress = 64,
  kBusMeet = 128,
  kBusAcceptsReplicas = 256,
  kBusNeverFailsOver = 512,
  kBusExtensions = 1024,
};

// The state of the sender, which each message contains.
struct BusHeader {
  BusMessageType type = BusMessageType::kPing;
  std::string sender;     // the name of the node
  std::string master_id;  // empty: the sender is a master
  uint64_t current_epoch = 0;
  uint64_t config_epoch = 0;  // of the sender, or of its master
  uint64_t replication_offset = 0;
  SlotSet::Bytes slots{};    // of the sender, or of its master
  std::string ip;            // empty: the peer's address of the link
  uint16_t port = 0;         // for clients
  uint16_t second_port = 0;  // with TLS if `port` is without, and the other way round; 0: none
  uint16_t bus_port = 0;
  uint16_t flags = 0;               // BusNodeFlag
  bool is_up = false;               // the sender considers the cluster able to serve
  bool has_paused_clients = false;  // for a manual failover
  bool forces_vote = false;         // its master has agreed to the failover
  bool reads_extensions = false;
};

// The knowledge of the sender about another node. Seconds since 1970.
struct BusGossip {
  std::string id;
  uint32_t ping_sent = 0;
  uint32_t pong_received = 0;
  std::string ip;
  uint16_t port = 0;
  uint16_t second_port = 0;
  uint16_t bus_port = 0;
  uint16_t flags = 0;  // BusNodeFlag
};

struct BusForgottenNode {
  std::string id;
  uint64_t seconds = 0;  // for which gossip must not add the node again
};

// The extensions of PING, PONG and MEET.
struct BusExtensions {
  std::optional<std::string> hostname;
  std::optional<std::string> human_name;
  std::optional<std::string> shard_id;
  std::vector<BusForgottenNode> forgotten_nodes;
};

struct BusMessage {
  BusHeader header;
  std::vector<BusGossip> gossip;  // PING, PONG, MEET
  std::optional<BusExtensions> extensions;
  std::string subject_id;          // FAIL, UPDATE: the node
  uint64_t subject_epoch = 0;      // UPDATE
  SlotSet::Bytes subject_slots{};  // UPDATE
  std::string_view channel;        // PUBLISH, PUBLISHSHARD
  std::string_view payload;        // the same
};

// Channel and payload are views of `bytes`. Nullopt if the type is unknown, if a length or a count
// does not fit, or if a name or an address has forbidden characters. Entries of gossip about
// invalid names and unknown extensions are left out. The slots cost nothing; O(length) otherwise.
std::optional<BusMessage> DecodeBusMessage(std::string_view bytes);

// The whole message, with the first kMostForgottenNodes of the forgotten nodes. Names are valid,
// and texts fit.
std::string EncodeBusMessage(const BusMessage& message);

// Whether the text may be an address, a host name or a human-readable name in messages and in
// nodes.conf.
bool IsBusAddress(std::string_view text);
bool IsBusHostname(std::string_view text);
bool IsBusHumanName(std::string_view text);

}  // namespace zsetd
