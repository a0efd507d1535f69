#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/util/rng.h"
#include "core/util/time.h"
#include "server/cluster/bus/bus_host.h"
#include "server/cluster/bus/cluster_bus.h"
#include "server/cluster/bus_links.h"
#include "server/cluster/migration/migration_host.h"
#include "server/cluster/migration/slot_eraser.h"
#include "server/cluster/nodes_file.h"
#include "server/cluster/topology/slot_set.h"
#include "server/cluster/topology/topology.h"
#include "server/engine/engine.h"
#include "server/engine/support/connector.h"
#include "server/engine/support/peer_port.h"

namespace zsetd {

// The surroundings of the bus in this server: connects it to the links, nodes.conf, the replication
// and the data.
//
//   network, ticks, commands ──► ClusterBus ──► BusHost: links, nodes.conf, publications
//                                                 └──► later steps: roles, deletion of keys
//
// The bus states a new role, or a slot that was lost, while it handles an input. These steps change
// the data or the settings, so they are made by Settle() and Tick(): not while data is loaded, and
// not within a transaction or a script. A message that changes the role is settled immediately:
// requests without keys, such as FLUSHALL, are not redirected, and must find the new role.
class NodeHost : public BusHost, public MigrationHost, private BusLinks::Owner {
 public:
  // The arguments outlive this.
  NodeHost(Engine& engine, NodesStorage& storage, Connector& connector);
  ~NodeHost() override;

  // Must be called once, first: the nodes of nodes.conf, or a new node alone.
  void Start(Topology topology);

  // Listens for other nodes. An error is human-readable.
  absl::Status Listen(PeerPort& peers);

  // The server's own data has been loaded. As in Redis, other nodes cannot connect until then: a
  // message may take a slot whose keys are not loaded yet, and a replica may replace a master that
  // loads for longer than the node timeout.
  void OnLoaded() { is_loaded_ = true; }

  ClusterBus& bus() override { return *bus_; }
  const ClusterBus& bus() const { return *bus_; }
  const BusLinks& links() const { return links_; }
  SlotEraser& eraser() override { return *eraser_; }
  bool AwaitsOwners() const override { return erases_from_ != 0; }

  // See ClusterControl::ServesPlainly(). An input of the bus may have moved slots that
  // `plainly_served_` shows until the node is settled.
  bool ServesPlainly(size_t slot) const { return plainly_served_.Contains(slot) && !is_unsettled_; }

  // Completes inputs of the bus: saves nodes.conf, sends messages, makes later steps. Returns the
  // error of the save, in the words of a reply.
  absl::Status Settle() override;

  // Saves nodes.conf. Returns the error in the words of a reply.
  absl::Status SaveSynced() { return InWordsOfReply(Save(/*is_synced=*/true)); }

  // The settings have changed.
  void ApplySettings();

  void Tick(Micros budget);
  bool HasWork() const;
  void EndRound();

  int64_t Now() const override;
  int64_t ReplicationOffset() const override;
  bool IsLinkedToMaster() const override;
  int64_t DataAge() const override;
  bool FollowsMaster() const override;
  bool AreWritesStopped() const override;
  bool HasKeysIn(size_t slot) const override;
  void OpenLink(LinkId link, const std::string& ip, int64_t bus_port) override;
  void CloseLink(LinkId link) override { links_.Close(link); }
  void Send(LinkId link, std::string_view message) override { links_.Send(link, message); }
  absl::Status Save(bool is_synced) override;
  void TopologyChanged() override;
  void FollowMaster(const ClusterNode& master) override;
  void BecomeMaster() override;
  void DeleteAllKeys() override;
  void DeleteKeysIn(size_t slot) override;
  void PauseWrites() override;
  void ResumeWrites() override;
  void PublishLocally(std::string_view channel, std::string_view payload,
                      bool is_shard_channel) override;
  void Log(LogLevel level, std::string_view line) override;

 private:
  LinkId OnAccepted(const std::string& peer_ip, const std::string& own_ip) override;
  void OnOpened(LinkId link, const std::string& peer_ip, const std::string& own_ip) override;
  void OnClosed(LinkId link) override;
  bool IsOfKnownNode(LinkId link) const override { return bus_->IsOfKnownNode(link); }
  void OnMessage(LinkId link, std::string_view message) override;

  static absl::Status InWordsOfReply(absl::Status saved);
  BusSettings SettingsOfBus() const;
  BusLinks::Limits LimitsOfLinks() const;
  bool HasSteps() const;
  bool MayMakeSteps() const;
  bool MayErase() const;
  void MakeSteps();
  void MakeStepsAfterUnit();
  void HideSlots();
  void LeaveSlots();
  void EraseLater();
  void DecideErasure();
  void SyncSaved(Millis now);
  void EndWaits();
  void EndShardSubscriptions();

  Engine& engine_;
  NodesStorage& storage_;
  Rng rng_;  // of the bus: equal seeds of two servers must not give equal names and delays
  const Micros clock_base_;  // the time since 1970 when the monotonic clock was zero
  std::optional<ClusterBus> bus_;
  std::optional<SlotEraser> eraser_;  // since Start()
  SlotSet plainly_served_;
  std::bitset<kSlotCount> hidden_slots_;      // for the keyspace
  int64_t erases_from_ = 0;                   // after a promotion; 0: nothing is to be decided
  std::function<void()> role_step_;           // to be made later, before the others; or null
  std::vector<std::function<void()>> steps_;  // to be made later
  Millis last_tick_{0};
  std::optional<Millis> unsynced_since_;  // nodes.conf was saved without a sync
  bool is_loaded_ = false;
  bool is_unsettled_ = false;
  bool steps_await_unit_ = false;
  bool topology_has_changed_ = false;
  BusLinks links_;  // last: its connections refer to this
};

}  // namespace zsetd
