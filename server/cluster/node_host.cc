#include "server/cluster/node_host.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/hashing/key_slot.h"
#include "server/cluster/bus_port.h"
#include "server/cluster/topology/nodes_text.h"
#include "server/engine/propagation/unit.h"
#include "server/engine/services/cluster_control.h"
#include "server/engine/services/master_control.h"
#include "server/engine/services/services.h"
#include "server/engine/services/snapshot_control.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/unique_id.h"

namespace zsetd {
namespace {

constexpr Millis kBetweenTicks{90};  // ticks of the server, every 100 ms, are not exact
constexpr Millis kLeastPatience{5000};

// Returns the announced number, or this node's own if none is announced.
int64_t Either(int64_t announced, int64_t own) { return announced != 0 ? announced : own; }

uint64_t RandomSeed() {
  constexpr int kHexadecimal = 16;
  return std::stoull(UniqueId().substr(0, 16), nullptr, kHexadecimal);
}

}  // namespace

NodeHost::NodeHost(Engine& engine, NodesStorage& storage, Connector& connector)
    : engine_(engine),
      storage_(storage),
      rng_(RandomSeed()),
      clock_base_(engine.host().wall_clock() - engine.host().stopwatch()),
      links_(connector, *this, *engine.host().log) {}

void NodeHost::Start(Topology topology) {
  bus_.emplace(std::move(topology), *this, rng_, SettingsOfBus());
  links_.set_limits(LimitsOfLinks());
  eraser_.emplace(engine_, bus_->topology());
  if (bus_->topology().self().is_replica) return;
  bus_->topology().slots_to_clear.ForEach([this](size_t slot) { eraser_->Add(slot); });
}

NodeHost::~NodeHost() {
  if (unsynced_since_) (void)NodeHost::Save(/*is_synced=*/true);  // errors are in the log
  engine_.store().database(0).set_hidden_slots(nullptr);
}

absl::Status NodeHost::Listen(PeerPort& peers) {
  const absl::Status listens =
      peers.ListenForPeers(BusPort(engine_.settings()), [this](const PeerPort::Accept& accept) {
        if (is_loaded_) links_.Take(accept, Millis(Now()));
      });
  if (listens.ok()) return listens;
  return Refusal("The cluster bus: " + std::string(ErrorLine(listens)));
}

BusSettings NodeHost::SettingsOfBus() const {
  constexpr int64_t kMillis = 1000;
  const Settings& s = engine_.settings();
  return {.node_timeout = s.cluster_node_timeout,
          .ping_interval = s.cluster_ping_interval,
          .replica_validity_factor = s.cluster_replica_validity_factor,
          .migration_barrier = s.cluster_migration_barrier,
          .replica_ping_period = s.repl_ping_replica_period * kMillis,
          .manual_failover_timeout = s.cluster_manual_failover_timeout,
          .forgotten_for = s.cluster_blacklist_ttl * kMillis,
          .allow_replica_migration = s.cluster_allow_replica_migration,
          .never_fails_over = s.cluster_replica_no_failover,
          .require_full_coverage = s.cluster_require_full_coverage,
          .uses_tls = s.tls_cluster,
          .announced_ip = s.cluster_announce_ip,
          .announced_hostname = s.cluster_announce_hostname,
          .human_name = s.cluster_announce_human_nodename,
          .port = Either(s.cluster_announce_port, s.port),
          .tls_port = Either(s.cluster_announce_tls_port, s.tls_port),
          .bus_port = Either(s.cluster_announce_bus_port, BusPort(s))};
}

// Each node has one link at a time, or several while it reconnects.
BusLinks::Limits NodeHost::LimitsOfLinks() const {
  constexpr size_t kOfStrangers = 100;
  constexpr size_t kOfNode = 4;
  return {.most_unsent_bytes = static_cast<size_t>(engine_.settings().cluster_link_sendbuf_limit),
          .most_accepted = kOfStrangers + kOfNode * bus_->topology().nodes().size()};
}

absl::Status NodeHost::Settle() {
  is_unsettled_ = false;
  absl::Status settled = bus_->Settle();
  MakeSteps();
  return InWordsOfReply(std::move(settled));
}

absl::Status NodeHost::InWordsOfReply(absl::Status saved) {
  if (saved.ok()) return saved;
  return Refusal("ERR error saving the cluster node config: " + std::string(ErrorLine(saved)));
}

void NodeHost::ApplySettings() {
  if (!bus_) return;
  bus_->ApplySettings(SettingsOfBus());
  is_unsettled_ = true;
}

void NodeHost::EndRound() {
  if (is_unsettled_) (void)Settle();  // errors are in the log
}

void NodeHost::Tick(Micros budget) {
  MakeSteps();
  if (std::exchange(topology_has_changed_, false)) {
    EndWaits();
  } else if (!bus_->IsUp()) {  // a client may have begun to wait in the meantime
    engine_.blocked_runner().EndMisroutedWaits();
  }
  if (AwaitsOwners() && Now() >= erases_from_) DecideErasure();
  if (MayErase()) eraser_->Continue(budget);
  const Millis now(Now());
  const bool is_due = now - last_tick_ >= kBetweenTicks || now < last_tick_;
  if (!is_loaded_ || !is_due) return;
  last_tick_ = now;
  links_.set_limits(LimitsOfLinks());
  links_.Maintain(now, std::max(Millis(engine_.settings().cluster_node_timeout), kLeastPatience));
  bus_->Tick();
  (void)Settle();
  SyncSaved(now);
}

bool NodeHost::HasWork() const {
  return topology_has_changed_ || (HasSteps() && MayMakeSteps()) ||
         (MayErase() && eraser_->HasWork());
}

// During a pause the data does not change.
bool NodeHost::MayErase() const {
  return is_loaded_ && !bus_->topology().self().is_replica && !eraser_->slots().empty() &&
         MayMakeSteps() && engine_.mode().MayExpire(engine_.store().now());
}

void NodeHost::TopologyChanged() {
  topology_has_changed_ = true;
  const Topology& topology = bus_->topology();
  const ClusterNode& self = topology.self();
  plainly_served_ = bus_->IsUp() ? self.slots : SlotSet();
  for (const auto& [slot, target] : topology.migrating()) plainly_served_.Erase(slot);
  plainly_served_ = plainly_served_ - bus_->WithheldSlots();
  HideSlots();
  if (!engine_.settings().cluster_slot_stats_enabled) return;
  const ClusterNode& master = topology.MasterOf(self);
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    if (!master.slots.Contains(slot)) engine_.metrics().slots().Reset(slot);
  }
}

// Clients do not see keys that are being imported or are to be deleted, and these do not expire
// here.
void NodeHost::HideSlots() {
  const Topology& topology = bus_->topology();
  const SlotSet& own = topology.MasterOf(topology.self()).slots;
  const std::bitset<kSlotCount> before = std::exchange(hidden_slots_, {});
  topology.slots_to_clear.ForEach([&](size_t slot) {
    if (!own.Contains(slot)) hidden_slots_.set(slot);
  });
  if (hidden_slots_ == before) return;
  engine_.store().database(0).set_hidden_slots(hidden_slots_.any() ? &hidden_slots_ : nullptr);
}

// The new master of this node decides which keys are to be deleted, and notes it for its replicas.
void NodeHost::LeaveSlots() {
  eraser_->Clear();
  erases_from_ = 0;
  bus_->SetSlotsToClear(SlotSet());
  is_unsettled_ = true;
}

// Its master may have taken the slots just before it failed. Deletes nothing until the present
// owners have had the time to show which slots they have.
void NodeHost::EraseLater() {
  if (bus_->topology().slots_to_clear.empty()) return;
  erases_from_ = Now() + engine_.settings().cluster_node_timeout;
}

// Keys of a slot that no node claims stay.
void NodeHost::DecideErasure() {
  erases_from_ = 0;
  bus_->topology().slots_to_clear.ForEach([this](size_t slot) {
    if (!bus_->IsWithdrawn(slot)) eraser_->Add(slot);
  });
}

bool NodeHost::MayMakeSteps() const {
  const ServerMode& mode = engine_.mode();
  return !mode.is_loading() && !mode.is_loading_beside() && !engine_.units().IsInTransaction();
}

bool NodeHost::HasSteps() const { return role_step_ != nullptr || !steps_.empty(); }

// A step may cause another one. The last role counts.
void NodeHost::MakeSteps() {
  while (HasSteps() && MayMakeSteps()) {
    if (role_step_ != nullptr) std::exchange(role_step_, nullptr)();
    for (const std::function<void()>& step : std::exchange(steps_, {})) step();
  }
  if (HasSteps()) MakeStepsAfterUnit();
}

// No request comes between the end of the unit and the steps.
void NodeHost::MakeStepsAfterUnit() {
  if (!engine_.units().IsInTransaction() || std::exchange(steps_await_unit_, true)) return;
  engine_.units().AfterUnit([this] {
    steps_await_unit_ = false;
    MakeSteps();
  });
}

// Uses the monotonic clock: if the machine's clock is set back, pings must not stop, and a pause
// must not last longer. Other nodes compare times only to save pings.
int64_t NodeHost::Now() const {
  return std::chrono::floor<Millis>(clock_base_ + engine_.host().stopwatch()).count();
}

// A replica that has no data of its master yet is at 0.
int64_t NodeHost::ReplicationOffset() const {
  if (!engine_.replication().is_replica()) return engine_.replication().offset();
  const int64_t applied = engine_.services().master->master_link().applied_offset;
  return applied <= 1 ? 0 : applied;
}

bool NodeHost::IsLinkedToMaster() const {
  return engine_.services().master->master_link().client != nullptr;
}

int64_t NodeHost::DataAge() const {
  const MasterLinkStatus link = engine_.services().master->master_link();
  if (link.silent_for) return link.silent_for->count();
  return link.down_for ? link.down_for->count() : Now();
}

bool NodeHost::FollowsMaster() const { return engine_.replication().is_replica(); }

// A suspended script still appends its changes to the history, and the target of a migration may
// be taking slots.
bool NodeHost::AreWritesStopped() const {
  const ClientPause& pause = engine_.clients().pause();
  return !engine_.units().IsInTransaction() &&
         !pause.IsOn(ClientPause::Cause::kMigration, engine_.store().now());
}

bool NodeHost::HasKeysIn(size_t slot) const {
  return engine_.store().database(0).keys().CountInSlot(slot) > 0;
}

void NodeHost::OpenLink(LinkId link, const std::string& ip, int64_t bus_port) {
  links_.Open(
      link,
      {.host = ip, .port = static_cast<int>(bus_port), .with_tls = engine_.settings().tls_cluster});
}

absl::Status NodeHost::Save(bool is_synced) {
  absl::Status saved = storage_.Save(NodesFileText(bus_->topology()), is_synced);
  if (!saved.ok()) {
    Log(LogLevel::kWarning,
        "Cannot save the nodes of the cluster: " + std::string(ErrorLine(saved)));
  } else if (is_synced) {
    unsynced_since_.reset();
  } else if (!unsynced_since_) {
    unsynced_since_ = Millis(Now());
  }
  return saved;
}

// One sync covers the saves of a second: SETSLOT saves several times for each slot that moves.
void NodeHost::SyncSaved(Millis now) {
  constexpr Millis kLongestUnsynced{1000};
  if (!unsynced_since_ || now - *unsynced_since_ < kLongestUnsynced) return;
  unsynced_since_.reset();  // an error is in the log, and the next save tries again
  (void)Save(/*is_synced=*/true);
}

// Clients that wait for keys are redirected before the change of the role would end their waits
// with an error.
void NodeHost::FollowMaster(const ClusterNode& master) {
  if (master.ip.empty()) return;
  const bool with_tls = engine_.settings().tls_replication;
  const int64_t wanted = with_tls ? master.tls_port : master.port;
  const int64_t port = wanted != 0 ? wanted : std::max(master.port, master.tls_port);
  const bool was_master = is_loaded_ && !FollowsMaster();
  role_step_ = [this, was_master, ip = master.ip, port] {
    if (was_master) LeaveSlots();
    engine_.blocked_runner().EndMisroutedWaits();
    const absl::Status followed =
        engine_.services().master->Follow(ip, port, "the cluster configuration");
    if (!followed.ok()) Log(LogLevel::kWarning, ErrorLine(followed));
  };
}

void NodeHost::BecomeMaster() {
  role_step_ = [this] {
    if (!FollowsMaster()) return;
    engine_.services().master->Promote("the cluster configuration");
    EraseLater();
  };
}

// The log and the snapshot must not restore the data.
void NodeHost::DeleteAllKeys() {
  steps_.push_back([this] {
    const Unit unit(engine_.effects());
    engine_.store().ClearAll();
    engine_.services().snapshots->OnFlushAll();
    if (engine_.effects().IsOn()) engine_.effects().Add(0, {"FLUSHALL"});
  });
}

void NodeHost::DeleteKeysIn(size_t slot) { eraser_->Add(slot); }

void NodeHost::PauseWrites() {
  engine_.clients().pause().Begin(ClientPause::Cause::kFailover, ClientPause::Reach::kWrites,
                                  engine_.store().now(), ClientPause::kUntilEnded);
}

void NodeHost::ResumeWrites() { engine_.clients().pause().End(ClientPause::Cause::kFailover); }

void NodeHost::PublishLocally(std::string_view channel, std::string_view payload,
                              bool is_shard_channel) {
  Channels& channels = engine_.notifier().channels();
  (void)(is_shard_channel ? channels.PublishToShard(channel, payload)
                          : channels.Publish(channel, payload));
}

void NodeHost::Log(LogLevel level, std::string_view line) {
  engine_.host().log->Write(level, line);
}

LinkId NodeHost::OnAccepted(const std::string& peer_ip, const std::string& own_ip) {
  is_unsettled_ = true;
  return bus_->Accept(peer_ip, own_ip);
}

void NodeHost::OnOpened(LinkId link, const std::string& peer_ip, const std::string& own_ip) {
  is_unsettled_ = true;
  bus_->OnOpened(link, peer_ip, own_ip);
}

void NodeHost::OnClosed(LinkId link) {
  is_unsettled_ = true;
  bus_->OnClosed(link);
}

void NodeHost::OnMessage(LinkId link, std::string_view message) {
  is_unsettled_ = true;
  bus_->OnMessage(link, message);
  if (HasSteps()) (void)Settle();  // errors are in the log
}

void NodeHost::EndWaits() {
  engine_.blocked_runner().EndMisroutedWaits();
  EndShardSubscriptions();
}

// Like Redis, notifies the subscribers of shard channels that this node's shard does not serve any
// more.
void NodeHost::EndShardSubscriptions() {
  Channels& channels = engine_.notifier().channels();
  const ClusterControl& cluster = *engine_.services().cluster;
  std::vector<std::string> names;
  for (const std::string_view name : channels.Matching(ChannelKind::kShardChannel, "*")) {
    const ClusterControl::Owner owner = cluster.StateOf(KeySlot(name)).owner;
    const bool is_served =
        owner == ClusterControl::Owner::kSelf || owner == ClusterControl::Owner::kMasterOfSelf;
    if (!is_served) names.emplace_back(name);
  }
  for (const std::string& name : names) channels.EndShardChannel(name);
}

}  // namespace zsetd
