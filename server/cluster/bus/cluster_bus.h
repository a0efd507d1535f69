#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/util/rng.h"
#include "server/cluster/bus/bus_host.h"
#include "server/cluster/bus/bus_settings.h"
#include "server/cluster/message/bus_message.h"
#include "server/cluster/topology/topology.h"
#include "server/engine/services/cluster_control.h"

namespace zsetd {

// A link as CLUSTER LINKS shows it. The host knows the sizes of its buffers.
struct BusLink {
  LinkId id = 0;
  bool is_inbound = false;
  std::string node_id;  // empty: the peer is not known yet
  int64_t created = 0;  // milliseconds since 1970
  bool is_open = false;
};

// The node's part in the protocol of Redis Cluster: handshakes, gossip, detection of failures,
// claims of slots, epochs, votes, promotion and migration of replicas. It is a state machine
// without sockets, threads or files. Messages, ends of links, ticks and commands are its inputs;
// the calls of a BusHost are its outputs. The host's clock and the given random numbers determine a
// run.
//
//   messages, ends of links ──┐                ┌── BusHost: messages, links
//   Tick() every 100 ms ──────┼── ClusterBus ──┼── BusHost: nodes.conf
//   commands, settings ───────┘   (Topology)   └── BusHost: roles, pauses, publications
//
// After one or several inputs, and before it waits for more, the host must call Settle().
//
// Invariants:
// - A vote is saved and synced before it is sent. This node votes at most once in an epoch, also
//   after a restart from its last saved nodes.conf.
// - A promotion is saved and synced before it is announced. A takeover of slots also is, without a
//   sync if CLUSTER SETSLOT needs no new epoch.
// - A slot changes its owner by a message only in favour of a greater configuration epoch, or if
//   the owner has withdrawn its claim.
// - A message from a node that is not known changes neither nodes nor slots. A MEET starts a
//   handshake.
class ClusterBus {
 public:
  // `topology` is that of nodes.conf, or of a new node. The other arguments outlive this. The first
  // Tick() opens the links.
  ClusterBus(Topology topology, BusHost& host, Rng& rng, const BusSettings& settings);
  ~ClusterBus();
  ClusterBus(const ClusterBus&) = delete;

  // ---- What commands read.

  const Topology& topology() const;

  // Whether the node considers the cluster able to serve: all slots have owners that have not
  // failed (unless cluster-require-full-coverage is no), and most masters are reachable. O(1).
  // After a start it is false for two seconds if the node is a master and knows others.
  bool IsUp() const;

  // O(nodes).
  ClusterSummary Summary() const;

  // The numbers of messages, by type, for CLUSTER INFO (BusMessageName()).
  using MessageCounts = std::array<uint64_t, kBusMessageTypes>;
  const MessageCounts& sent_messages() const;
  const MessageCounts& received_messages() const;

  // All links to and from known nodes.
  std::vector<BusLink> Links() const;

  // How many masters report that the node has failed: CLUSTER COUNT-FAILURE-REPORTS.
  size_t CountFailureReports(const ClusterNode& node) const;

  // Whether the node was forgotten a short time ago, by a command here or on another node.
  bool HasForgotten(const std::string& id) const;

  // Whether the peer of the link is a node of the cluster: it has stated so, or this node has
  // opened the link to it. A peer in a handshake is not known.
  bool IsOfKnownNode(LinkId link) const;

  // ---- Inputs of links. IDs that the bus has closed, or does not know, are ignored.

  // A peer has opened a link. `own_ip` is the address of this node that it has connected to.
  LinkId Accept(std::string_view peer_ip, std::string_view own_ip);

  // A link of BusHost::OpenLink() is connected.
  void OnOpened(LinkId link, std::string_view peer_ip, std::string_view own_ip);

  // A link has failed or ended, for either side's reason.
  void OnClosed(LinkId link);

  // A whole message has arrived (BusMessageLength() finds its end). Invalid messages, and those of
  // unknown types, are counted and ignored. O(slots + nodes in the message).
  void OnMessage(LinkId link, std::string_view message);

  // Must be called about every 100 ms.
  void Tick();

  // Completes the inputs since the last call: tries the next step of a failover, decides whether
  // the cluster is up, saves nodes.conf if needed and reports BusHost::TopologyChanged(). Returns
  // the error of the save, for commands to reply; it is tried again by the next call. Cheap if no
  // input had an effect.
  absl::Status Settle();

  // ---- Commands. Their preconditions are checked by the caller, unless they return a status.

  // CLUSTER MEET. A refusal if the address is no IP address or a port is invalid; the line is
  // Redis's. A handshake with the same address in progress is not started twice.
  absl::Status Meet(std::string_view ip, int64_t port, int64_t bus_port);

  // CLUSTER FORGET. `node` is neither this node nor its master. Gossip does not add it again for 60
  // seconds.
  void Forget(const ClusterNode& node);

  // CLUSTER REPLICATE. `master` is another node and a master. This node has no slots.
  void Replicate(const ClusterNode& master);

  // CLUSTER FAILOVER. A refusal has Redis's line. A takeover that cannot be saved is
  // refused.
  absl::Status Failover(ClusterFailover kind);

  // CLUSTER RESET. Forgets all nodes, slots and, with `hard`, the name and the epochs. A replica
  // becomes a master and deletes its data.
  void Reset(bool hard);

  // CLUSTER ADDSLOTS, DELSLOTS and FLUSHSLOTS. Null: the slot loses its owner.
  void SetOwner(size_t slot, const ClusterNode* owner);

  // A migration to this node has ended: it takes the slots with the granted or the greatest epoch,
  // without a vote, and broadcasts that. Removes the slots from Topology::slots_to_clear, too. If
  // that cannot be saved, is too late, or other nodes have reached the granted epoch, it changes
  // and sends nothing, and returns a refusal.
  struct TakeoverLimits {
    uint64_t granted_epoch = 0;                              // 0: the greatest one
    std::function<bool()> is_in_time = [] { return true; };  // also when the slots are saved
  };
  absl::Status TakeSlots(const SlotSet& slots, const TakeoverLimits& limits);

  // A migration from this node has ended: the slots are those of `taker` now, or of its master.
  // They have no owner if that master is unknown or the taker was forgotten (null). If this node's
  // last slot goes, it becomes a replica of the owner (cluster-allow-replica-migration).
  void GiveSlots(const SlotSet& slots, const ClusterNode* taker);

  // Whether the owner of the slot does not claim it any more, and no other node has claimed it yet.
  bool IsWithdrawn(size_t slot) const;

  // Notes in nodes.conf which slots' keys this node must delete, also after a restart.
  void SetSlotsToClear(const SlotSet& slots);

  // CLUSTER SETSLOT. The marks of a move are saved without a sync, as in Redis: no other node
  // depends on them. AssignSlot() is SETSLOT NODE: if it ends an import, this node claims the
  // greatest epoch without a vote and broadcasts it, like TakeSlots(). If this node's last slot
  // goes, it becomes a replica of the new owner (cluster-allow-replica-migration).
  void StartMigrating(size_t slot, const ClusterNode& target);
  void StartImporting(size_t slot, const ClusterNode& source);
  void EndMove(size_t slot);
  absl::Status AssignSlot(size_t slot, const ClusterNode& owner);

  // Grants of slots to the targets of migrations: see SlotGrants.
  absl::StatusOr<uint64_t> OpenGrant(const SlotSet& slots, const std::string& target_id,
                                     int64_t millis);
  void CloseGrant();
  void GiveUpGrant(bool is_refused);

  // Slots that this node must not serve, although it owns them: another node may own them.
  SlotSet WithheldSlots() const;
  bool IsWithheld(size_t slot) const;

  // Sends this node's slots to all nodes. A node that knows another owner of one replies with it.
  void Announce();

  // CLUSTER BUMPEPOCH. Returns whether the epoch has changed; false: it was the greatest already.
  bool BumpEpoch();

  // CLUSTER SET-CONFIG-EPOCH. The node knows no other one, and has no epoch.
  void SetConfigEpoch(uint64_t epoch);

  // The settings, the ports or the announced addresses have changed.
  void ApplySettings(const BusSettings& settings);

  // PUBLISH to all nodes, or SPUBLISH to the nodes of the shard.
  void Publish(std::string_view channel, std::string_view payload, bool is_shard_channel);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace zsetd
