#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace zsetd {

// Consecutive slots, both ends inclusive.
struct SlotRange {
  uint16_t first = 0;
  uint16_t last = 0;

  bool operator==(const SlotRange&) const = default;
};

// A node of the cluster, as commands describe it.
struct ClusterNodeView {
  std::string id;
  std::string shard_id;
  std::string ip;        // empty: unknown, as that of this node before the others know it
  std::string hostname;  // empty: none
  std::string endpoint;  // what clients connect to, by cluster-preferred-endpoint-type
  bool endpoint_is_known = true;
  int64_t port = 0;      // without TLS; 0: none
  int64_t tls_port = 0;  // 0: none
  bool is_self = false;
  bool is_replica = false;
  bool has_failed = false;
  uint64_t replication_offset = 0;  // 0: a replica without data
  std::string master_id;            // empty: it is a master
  std::vector<SlotRange> ranges;    // in ascending order; of a replica, none
};

// The figures of CLUSTER INFO.
struct ClusterSummary {
  bool is_up = false;
  size_t assigned_slots = 0;
  size_t suspected_slots = 0;  // of nodes that may have failed
  size_t failed_slots = 0;
  size_t nodes = 0;
  size_t masters_with_slots = 0;
  uint64_t current_epoch = 0;
  uint64_t own_epoch = 0;  // of this node, or of its master

  size_t working_slots() const { return assigned_slots - suspected_slots - failed_slots; }
};

// The messages of one type of the cluster's bus.
struct ClusterMessageCount {
  std::string_view type;  // "ping"
  uint64_t sent = 0;
  uint64_t received = 0;
};

// The figures of the cluster's bus.
struct ClusterBusStatus {
  std::vector<ClusterMessageCount> messages;
  size_t connections = 0;
  size_t connection_bytes = 0;
  uint64_t overflows = 0;  // links that were closed because of cluster-link-sendbuf-limit

  uint64_t sent() const { return Sum(&ClusterMessageCount::sent); }
  uint64_t received() const { return Sum(&ClusterMessageCount::received); }
  uint64_t Sum(uint64_t ClusterMessageCount::*count) const {
    uint64_t sum = 0;
    for (const ClusterMessageCount& each : messages) sum += each.*count;
    return sum;
  }
};

// A link of the bus to or from another node.
struct ClusterLinkView {
  std::string node_id;
  bool is_incoming = false;
  int64_t created = 0;  // milliseconds since 1970
  size_t unsent_bytes = 0;
  size_t capacity = 0;
};

enum class ClusterFailover : uint8_t {
  kAgreed,    // the master pauses its clients until the replica has all its writes
  kForced,    // FORCE: without the master
  kTakeover,  // TAKEOVER: without votes
};

// Which node serves which slot: the interface for the commands and the engine, implemented by
// server/cluster. A refusal is the whole error line; nothing has changed then, unless the change
// could not be saved.
class ClusterControl {
 public:
  enum class Owner : uint8_t { kNone, kSelf, kMasterOfSelf, kOther };

  struct SlotState {
    Owner owner = Owner::kNone;
    bool is_migrating = false;  // from this node to another one
    bool is_importing = false;  // from another node to this one
  };

  virtual ~ClusterControl() = default;

  // O(1), or O(log) of the slots that move.
  virtual SlotState StateOf(size_t slot) const = 0;

  // Whether this node serves all requests for the slot: it owns it, the slot does not move, and the
  // cluster is up. May lag until the end of the round. O(1).
  virtual bool ServesPlainly(size_t slot) const = 0;

  // Whether the cluster serves requests with keys.
  virtual bool IsUp() const = 0;

  // The address for redirections, "127.0.0.1:6379": of the owner of the slot, and of the node that
  // the slot migrates to. The slot has such a node. `tls`: the client uses TLS.
  virtual std::string OwnerAddress(size_t slot, bool tls) const = 0;
  virtual std::string TargetAddress(size_t slot, bool tls) const = 0;

  virtual bool IsReplica() const = 0;
  virtual std::string Id() const = 0;
  virtual std::string ShardId() const = 0;
  virtual ClusterSummary Summary() const = 0;
  virtual std::vector<ClusterNodeView> Nodes() const = 0;

  // The lines of CLUSTER NODES, and those of the replicas of a master.
  virtual std::string NodesText(bool tls) const = 0;
  virtual absl::StatusOr<std::vector<std::string>> ReplicaLines(std::string_view master_id,
                                                                bool tls) const = 0;
  virtual ClusterBusStatus BusStatus() const = 0;

  // The connections of the bus that count for `maxclients`: two to each other node, or more if more
  // are open. O(1).
  virtual size_t CountedConnections() const = 0;
  virtual std::vector<ClusterLinkView> Links() const = 0;

  // The number of masters that report the failure of a node.
  virtual absl::StatusOr<size_t> CountFailureReports(std::string_view id) const = 0;

  // Sends a message of a client to the subscribers of other nodes.
  virtual void Publish(std::string_view channel, std::string_view message,
                       bool is_shard_channel) = 0;

  // Returns why AddSlots(), or else DeleteSlots(), would refuse these slots, or OK.
  virtual absl::Status CheckSlots(std::span<const SlotRange> ranges, bool adds) const = 0;

  // Assigns slots to this node, or removes the owners of slots. All or none of them change.
  virtual absl::Status AddSlots(std::span<const SlotRange> ranges) = 0;
  virtual absl::Status DeleteSlots(std::span<const SlotRange> ranges) = 0;
  virtual absl::Status FlushSlots() = 0;

  // CLUSTER SETSLOT.
  virtual absl::Status StartMigrating(size_t slot, std::string_view target_id) = 0;
  virtual absl::Status StartImporting(size_t slot, std::string_view source_id) = 0;
  virtual absl::Status EndMove(size_t slot) = 0;
  virtual absl::Status AssignSlot(size_t slot, std::string_view id) = 0;

  // Gives this node the greatest epoch. Sets `has_changed` to false if it has it already. Returns
  // the epoch.
  virtual absl::StatusOr<uint64_t> BumpEpoch(bool& has_changed) = 0;
  virtual absl::Status SetConfigEpoch(int64_t epoch) = 0;

  // The address must be numeric. The nodes know each other after some messages.
  virtual absl::Status Meet(std::string_view ip, int64_t port, int64_t bus_port) = 0;
  virtual absl::Status FailOver(ClusterFailover kind) = 0;
  virtual absl::Status Forget(std::string_view id) = 0;
  virtual absl::Status Replicate(std::string_view master_id) = 0;
  virtual absl::Status Reset(bool hard) = 0;
  virtual absl::Status Save() = 0;

  // The settings have changed. Updates what they state about this node.
  virtual void ApplySettings() = 0;
};

}  // namespace zsetd
