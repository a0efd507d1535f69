#include "server/cluster/bus/cluster_bus.h"

#include <arpa/inet.h>

#include <algorithm>
#include <bitset>
#include <cassert>
#include <optional>
#include <utility>

#include "server/cluster/bus/bus_failover.h"
#include "server/cluster/bus/bus_receiver.h"
#include "server/cluster/bus/bus_roles.h"
#include "server/cluster/bus/bus_sender.h"
#include "server/cluster/bus/bus_state.h"
#include "server/cluster/bus/cluster_state.h"
#include "server/cluster/bus/failure_detector.h"
#include "server/cluster/bus/link_table.h"
#include "server/cluster/bus/node_handshakes.h"
#include "server/cluster/bus/replica_migration.h"
#include "server/cluster/bus/slot_claims.h"
#include "server/cluster/bus/slot_grants.h"
#include "server/cluster/bus/votes.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/port_limit.h"

namespace zsetd {
namespace {

// Returns the IP address in its usual form; nullopt if the text is no IP address.
std::optional<std::string> NormalIp(std::string_view text) {
  const std::string ip(text);
  std::array<char, INET6_ADDRSTRLEN> normal{};
  for (const int family : {AF_INET, AF_INET6}) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    if (inet_pton(family, ip.c_str(), bytes.data()) != 1) continue;
    if (inet_ntop(family, bytes.data(), normal.data(), normal.size()) == nullptr) continue;
    return std::string(normal.data());
  }
  return std::nullopt;
}

bool IsPort(int64_t port) { return port > 0 && port <= kMaxPort; }

// The state that a takeover of slots changes, as it was before.
class StateBeforeTakeover {
 public:
  StateBeforeTakeover(BusState& state, const SlotSet& slots)
      : slots_to_clear_(state.topology.slots_to_clear),
        withdrawn_slots_(state.withdrawn_slots),
        current_epoch_(state.topology.current_epoch),
        config_epoch_(state.self().config_epoch),
        accepts_replicas_(state.self().accepts_replicas) {
    const Topology::Moves& imports = state.topology.importing();
    slots.ForEach([&](size_t slot) {
      owners_.emplace_back(slot, state.topology.OwnerOf(slot));
      const auto found = imports.find(static_cast<uint16_t>(slot));
      if (found != imports.end()) imports_.insert(*found);
    });
  }

  // Precondition: no other node has received a message about the takeover, so its epoch can be
  // used again.
  void Restore(BusState& state) const {
    Topology& topology = state.topology;
    for (const auto& [slot, owner] : owners_) topology.SetOwner(slot, owner);
    for (const auto& [slot, source] : imports_) topology.StartImporting(slot, *source);
    topology.slots_to_clear = slots_to_clear_;
    topology.current_epoch = current_epoch_;
    state.withdrawn_slots = withdrawn_slots_;
    state.self().config_epoch = config_epoch_;
    state.self().accepts_replicas = accepts_replicas_;
    state.must_check_state = true;
  }

 private:
  std::vector<std::pair<size_t, ClusterNode*>> owners_;
  SlotSet slots_to_clear_;
  Topology::Moves imports_;  // of the slots
  std::bitset<kSlotCount> withdrawn_slots_;
  uint64_t current_epoch_;
  uint64_t config_epoch_;
  bool accepts_replicas_;
};

}  // namespace

// The parts, each of which uses the ones before it.
class ClusterBus::Machine {
 public:
  Machine(Topology topology, BusHost& host, Rng& rng, const BusSettings& settings)
      : state(std::move(topology), host, rng, settings) {}

  void RepairTopology();
  void ApplySettings();
  absl::Status TakeSlots(const SlotSet& slots, const TakeoverLimits& limits);
  bool MayClaim(uint64_t granted_epoch, const SlotSet& slots) const;
  void OpenLinks();
  void PingRandomNode();
  void PingSilentNodes();
  void CheckNode(ClusterNode& node);

  BusState state;
  LinkTable links{state};
  BusSender sender{state, links};
  FailureDetector detector{state, sender};
  BusRoles roles{state, links, detector};
  NodeHandshakes handshakes{state, links, roles};
  SlotClaims claims{state, roles, sender};
  SlotGrants grants{state, roles, sender};
  Votes votes{state, sender};
  ClusterState cluster{state};
  BusFailover failover{state, roles, sender, cluster};
  ReplicaMigration migration{state, roles};
  BusReceiver receiver{state,      links,  sender, detector, roles,
                       handshakes, claims, grants, votes,    failover};
  int64_t last_random_ping = 0;
};

// A file may give slots to a replica, and the bus does not. Its times are those of another run,
// which the clock may have left: a ping of that run has no answer, which is no sign of a failure,
// and a failed master gives its replicas time from now on.
void ClusterBus::Machine::RepairTopology() {
  for (const auto& [id, node] : state.topology.nodes()) {
    if (node->is_replica && node->HasSlots()) roles.RemoveSlots(*node);
    if (!node->master_id.empty()) state.topology.Find(node->master_id)->accepts_replicas = true;
    node->created = state.Now();
    node->ping_sent = 0;
    node->fail_time = state.Now();
    node->pong_received = std::min(node->pong_received, state.Now());
  }
  ClusterNode& self = state.self();
  self.may_have_failed = self.has_failed = self.in_handshake = self.has_no_address = false;
}

void ClusterBus::Machine::ApplySettings() {
  const BusSettings& settings = state.settings;
  ClusterNode& self = state.self();
  if (!settings.announced_ip.empty()) self.ip = settings.announced_ip;
  self.hostname = settings.announced_hostname;
  self.human_name = settings.human_name;
  self.port = settings.port;
  self.tls_port = settings.tls_port;
  self.bus_port = settings.bus_port;
  self.never_fails_over = settings.never_fails_over;
  state.must_check_state = true;
}

// Saves the slots before this node announces them, with a sync if they need a new epoch: from then
// on the keys of the former owner are deleted. A restart that undid the takeover would delete those
// of this node.
absl::Status ClusterBus::Machine::TakeSlots(const SlotSet& slots, const TakeoverLimits& limits) {
  const uint64_t granted = limits.granted_epoch;
  if (granted != 0 && !MayClaim(granted, slots)) {
    return Refusal("ERR The epoch of the cluster has changed. Try again.");
  }
  const ClusterNode* const source = state.topology.OwnerOf(slots.First());
  const StateBeforeTakeover before(state, slots);
  slots.ForEach([&](size_t slot) {
    roles.SetOwner(slot, &state.self());
    state.topology.slots_to_clear.Erase(slot);
  });
  if (granted == 0) {
    roles.ClaimGreatestEpoch();
  } else if (state.self().config_epoch < granted) {
    roles.ClaimEpoch(granted);
  }
  if (const absl::Status saved = state.SaveAsRequested(); !saved.ok()) {
    state.Warning("The takeover of slots cannot be saved. They stay with their owner");
    before.Restore(state);
    return Refusal("ERR The takeover of the slots cannot be saved: " +
                   std::string(ErrorLine(saved)));
  }
  if (!limits.is_in_time()) {
    state.Warning("The takeover of slots was saved too late. They stay with their owner");
    before.Restore(state);
    state.SaveSyncedLater();
    (void)state.SaveAsRequested();  // after an error, the next save restores the file
    return Refusal("ERR It is too late to take the slots.");
  }
  sender.BroadcastPong(BusSender::Audience::kAll);
  if (!limits.is_in_time()) grants.TakeLate(slots, *source);
  return absl::OkStatus();
}

// The epoch must be greater than those of the owners. An equal one of another node would be
// resolved by a greater one, which the source does not know.
bool ClusterBus::Machine::MayClaim(uint64_t granted_epoch, const SlotSet& slots) const {
  const Topology& topology = state.topology;
  const ClusterNode& self = topology.self();
  if (granted_epoch > kMostStatedEpoch || self.config_epoch > granted_epoch) return false;
  bool is_greatest = true;
  slots.ForEach([&](size_t slot) {
    const ClusterNode* owner = topology.OwnerOf(slot);
    is_greatest &= owner == nullptr || owner->config_epoch < granted_epoch;
  });
  return is_greatest && std::ranges::none_of(topology.nodes(), [&](const auto& entry) {
           return entry.second.get() != &self && entry.second->config_epoch == granted_epoch;
         });
}

void ClusterBus::Machine::OpenLinks() {
  for (const auto& [id, node] : state.topology.nodes()) {
    if (node.get() == &state.self() || node->has_no_address || node->link != 0) continue;
    if (!node->ip.empty() && IsPort(node->bus_port)) links.Open(*node);
  }
}

// Finds failures of idle nodes early: the node of a few random ones that has been silent for the
// longest time.
void ClusterBus::Machine::PingRandomNode() {
  constexpr int kSample = 5;
  const int64_t now = state.Now();
  if (now - last_random_ping < state.settings.ping_interval) return;
  last_random_ping = now;
  std::vector<ClusterNode*> nodes;
  for (const auto& [id, node] : state.topology.nodes()) nodes.push_back(node.get());
  ClusterNode* oldest = nullptr;
  for (int taken = 0; taken < kSample; ++taken) {
    ClusterNode& node = *nodes[state.rng.Below(nodes.size())];
    if (&node == &state.self() || node.in_handshake || node.link == 0 || node.ping_sent != 0) {
      continue;
    }
    if (oldest == nullptr || node.pong_received < oldest->pong_received) oldest = &node;
  }
  if (oldest != nullptr) sender.SendPing(*oldest);
}

void ClusterBus::Machine::PingSilentNodes() {
  for (const auto& [id, node] : state.topology.nodes()) {
    if (node.get() == &state.self() || node->has_no_address || node->in_handshake) continue;
    CheckNode(*node);
  }
}

void ClusterBus::Machine::CheckNode(ClusterNode& node) {
  const int64_t now = state.Now();
  const int64_t timeout = state.settings.node_timeout;
  const int64_t ping_age = now - node.ping_sent;
  const int64_t data_age = now - node.data_received;
  if (const LinkTable::Link* link = links.Find(node.link)) {
    // The connection may be broken: a new one may work before the node counts as failed.
    const bool is_suspicious = node.ping_sent != 0 && ping_age > timeout / 2 &&
                               data_age > timeout / 2 && now - link->created > timeout;
    if (is_suspicious) links.Close(node.link);
  }
  const bool is_silent = node.ping_sent == 0 && now - node.pong_received > timeout / 2;
  // The replica of a manual failover waits for this master's offset.
  const bool needs_offset = state.self().IsMaster() && state.manual_failover.deadline != 0 &&
                            state.manual_failover.replica_id == node.id;
  if (node.link != 0 && (is_silent || needs_offset)) return sender.SendPing(node);
  if (node.ping_sent != 0 && std::min(ping_age, data_age) > timeout) detector.Suspect(node);
}

ClusterBus::ClusterBus(Topology topology, BusHost& host, Rng& rng, const BusSettings& settings)
    : machine_(std::make_unique<Machine>(std::move(topology), host, rng, settings)) {
  machine_->RepairTopology();
  machine_->ApplySettings();
}

ClusterBus::~ClusterBus() = default;

const Topology& ClusterBus::topology() const { return machine_->state.topology; }

bool ClusterBus::IsUp() const { return machine_->state.is_up; }

ClusterSummary ClusterBus::Summary() const {
  const BusState& state = machine_->state;
  ClusterSummary summary;
  summary.is_up = state.is_up;
  for (const auto& [id, node] : state.topology.nodes()) {
    const size_t slots = node->slots.size();
    summary.assigned_slots += slots;
    if (node->has_failed) {
      summary.failed_slots += slots;
    } else if (node->may_have_failed) {
      summary.suspected_slots += slots;
    }
    summary.masters_with_slots += state.Votes(*node);
  }
  summary.nodes = state.topology.nodes().size();
  summary.current_epoch = state.topology.current_epoch;
  summary.own_epoch = state.topology.MasterOf(state.self()).config_epoch;
  return summary;
}

const ClusterBus::MessageCounts& ClusterBus::sent_messages() const {
  return machine_->links.sent();
}

const ClusterBus::MessageCounts& ClusterBus::received_messages() const {
  return machine_->links.received();
}

std::vector<BusLink> ClusterBus::Links() const {
  std::vector<BusLink> links;
  for (const auto& [id, link] : machine_->links.all()) {
    if (link.node == nullptr) continue;
    links.push_back({.id = id,
                     .is_inbound = link.is_inbound,
                     .node_id = link.node->id,
                     .created = link.created,
                     .is_open = link.is_open});
  }
  return links;
}

size_t ClusterBus::CountFailureReports(const ClusterNode& node) const {
  return machine_->detector.CountReports(node);
}

bool ClusterBus::HasForgotten(const std::string& id) const {
  return machine_->state.forgotten_nodes.Contains(id, machine_->state.Now());
}

bool ClusterBus::IsOfKnownNode(LinkId link) const {
  const LinkTable::Link* found = machine_->links.Find(link);
  return found != nullptr && found->node != nullptr && !found->node->in_handshake;
}

LinkId ClusterBus::Accept(std::string_view peer_ip, std::string_view own_ip) {
  return machine_->links.Accept(peer_ip, own_ip);
}

// An unanswered ping of an earlier link still counts: a node that accepts links and does not answer
// has failed, too.
void ClusterBus::OnOpened(LinkId id, std::string_view peer_ip, std::string_view own_ip) {
  LinkTable::Link* link = machine_->links.Find(id);
  if (link == nullptr) return;
  assert(!link->is_inbound && link->node != nullptr);
  link->is_open = true;
  link->peer_ip = peer_ip;
  link->own_ip = own_ip;
  ClusterNode& node = *link->node;
  const int64_t pending_ping = node.ping_sent;
  machine_->sender.SendPing(*link, node.sends_meet ? BusMessageType::kMeet : BusMessageType::kPing);
  if (pending_ping != 0) node.ping_sent = pending_ping;
}

void ClusterBus::OnClosed(LinkId link) { machine_->links.Remove(link); }

void ClusterBus::OnMessage(LinkId link, std::string_view message) {
  if (machine_->links.Find(link) != nullptr) machine_->receiver.Take(link, message);
}

void ClusterBus::Tick() {
  Machine& machine = *machine_;
  BusState& state = machine.state;
  machine.handshakes.RemoveExpired();
  machine.OpenLinks();
  machine.PingRandomNode();
  machine.PingSilentNodes();
  state.forgotten_nodes.RemoveEnded(state.Now());
  const ClusterNode& self = state.self();
  const ClusterNode* master = state.topology.KnownMasterOf(self);
  if (master != nullptr && !master->ip.empty() && !state.host.FollowsMaster()) {
    state.host.FollowMaster(*master);
  }
  machine.grants.Tick();
  machine.failover.CheckDeadline();
  machine.failover.CheckOffset();
  if (self.is_replica) {
    machine.failover.Step();
    machine.migration.Check();
  }
  if (!state.is_up) state.must_check_state = true;
}

absl::Status ClusterBus::Settle() {
  BusState& state = machine_->state;
  machine_->failover.CheckOffset();
  if (state.must_try_failover) machine_->failover.Step();
  if (state.must_check_state) machine_->cluster.Check();
  machine_->grants.Check();
  absl::Status saved;
  if (state.must_save) {
    saved = state.host.Save(state.must_sync);
    if (saved.ok()) state.must_save = state.must_sync = false;
    state.has_changed = true;
  }
  if (std::exchange(state.has_changed, false)) state.host.TopologyChanged();
  return saved;
}

absl::Status ClusterBus::Meet(std::string_view ip, int64_t port, int64_t bus_port) {
  const std::optional<std::string> normal = NormalIp(ip);
  if (!normal || !IsPort(port) || !IsPort(bus_port)) {
    return Refusal("ERR Invalid node address specified: " + std::string(ip) + ":" +
                   std::to_string(port));
  }
  machine_->handshakes.Start(*normal, port, 0, bus_port, /*sends_meet=*/true);
  return absl::OkStatus();
}

void ClusterBus::Forget(const ClusterNode& node) {
  BusState& state = machine_->state;
  state.forgotten_nodes.Add(node.id, state.Now() + state.settings.forgotten_for);
  machine_->roles.Remove(*state.topology.Find(node.id));
}

void ClusterBus::Replicate(const ClusterNode& master) {
  machine_->roles.FollowMaster(master);
  machine_->state.SaveSyncedLater();
}

absl::Status ClusterBus::Failover(ClusterFailover kind) { return machine_->failover.Start(kind); }

void ClusterBus::Reset(bool hard) {
  BusState& state = machine_->state;
  ClusterNode& self = state.self();
  machine_->roles.EndManualFailover();
  machine_->failover.Reset();
  if (self.is_replica) {
    machine_->roles.MakeMaster(self);
    state.host.BecomeMaster();
    state.host.DeleteAllKeys();
  }
  state.topology.EndAllMoves();
  for (const auto& [id, node] : state.topology.nodes()) machine_->roles.RemoveSlots(*node);
  while (state.topology.nodes().size() > 1) {
    const auto& first = *state.topology.nodes().begin()->second;
    const std::string id = &first == &self ? state.topology.nodes().rbegin()->first : first.id;
    machine_->roles.Remove(*state.topology.Find(id));
  }
  state.forgotten_nodes.Clear();
  machine_->grants.Close();
  self.shard_id.clear();
  self.accepts_replicas = false;
  if (hard) {
    state.topology.Rename(self, machine_->handshakes.RandomId());
    self.config_epoch = 0;
    state.topology.current_epoch = 0;
    state.topology.last_vote_epoch = 0;
  }
  state.must_check_state = true;
  state.SaveSyncedLater();
}

void ClusterBus::SetOwner(size_t slot, const ClusterNode* owner) {
  Topology& topology = machine_->state.topology;
  machine_->roles.SetOwner(slot, owner == nullptr ? nullptr : topology.Find(owner->id));
  machine_->state.SaveSyncedLater();
}

void ClusterBus::StartMigrating(size_t slot, const ClusterNode& target) {
  machine_->state.topology.StartMigrating(slot, target);
  machine_->state.SaveLater();
}

void ClusterBus::StartImporting(size_t slot, const ClusterNode& source) {
  machine_->state.topology.StartImporting(slot, source);
  machine_->state.SaveLater();
}

void ClusterBus::EndMove(size_t slot) {
  machine_->state.topology.EndMove(slot);
  machine_->state.SaveLater();
}

// If a crash of the machine undoes that another node owns the slot, that node's greater epoch
// restores it.
absl::Status ClusterBus::AssignSlot(size_t slot, const ClusterNode& owner) {
  SlotSet slots;
  slots.Insert(slot);
  const bool ends_import =
      machine_->state.topology.importing().contains(static_cast<uint16_t>(slot));
  if (&owner != &machine_->state.self()) {
    GiveSlots(slots, &owner);
  } else if (ends_import) {
    return machine_->TakeSlots(slots, {});
  } else {
    SetOwner(slot, &owner);
  }
  return absl::OkStatus();
}

absl::Status ClusterBus::TakeSlots(const SlotSet& slots, const TakeoverLimits& limits) {
  machine_->state.SaveSyncedLater();
  return machine_->TakeSlots(slots, limits);
}

absl::StatusOr<uint64_t> ClusterBus::OpenGrant(const SlotSet& slots, const std::string& target_id,
                                               int64_t millis) {
  return machine_->grants.Open(slots, target_id, millis);
}

void ClusterBus::CloseGrant() { machine_->grants.Close(); }

void ClusterBus::GiveUpGrant(bool is_refused) { machine_->grants.GiveUp(is_refused); }

SlotSet ClusterBus::WithheldSlots() const { return machine_->grants.WithheldSlots(); }

bool ClusterBus::IsWithheld(size_t slot) const { return WithheldSlots().Contains(slot); }

void ClusterBus::Announce() { machine_->sender.BroadcastPong(BusSender::Audience::kAll); }

void ClusterBus::GiveSlots(const SlotSet& slots, const ClusterNode* taker) {
  BusState& state = machine_->state;
  const bool had_slots = state.self().HasSlots();
  ClusterNode* owner = nullptr;
  if (taker != nullptr) owner = state.topology.Find(state.topology.MasterOf(*taker).id);
  if (owner == &state.self()) return;
  if (owner != nullptr && owner->is_replica) owner = nullptr;
  slots.ForEach([&](size_t slot) { machine_->roles.SetOwner(slot, owner); });
  const bool has_left = had_slots && !state.self().HasSlots();
  if (!has_left || owner == nullptr || !state.settings.allow_replica_migration) return;
  state.Notice("The last slot of this node has moved. Becoming a replica of " + NodeText(*owner));
  machine_->roles.FollowMaster(*owner);
  state.SaveSyncedLater();
}

void ClusterBus::SetSlotsToClear(const SlotSet& slots) {
  machine_->state.topology.slots_to_clear = slots;
  machine_->state.SaveSyncedLater();
}

bool ClusterBus::IsWithdrawn(size_t slot) const { return machine_->state.withdrawn_slots[slot]; }

bool ClusterBus::BumpEpoch() { return machine_->roles.ClaimGreatestEpoch(); }

void ClusterBus::SetConfigEpoch(uint64_t epoch) {
  BusState& state = machine_->state;
  assert(state.topology.nodes().size() == 1 && state.self().config_epoch == 0);
  state.topology.RaiseConfigEpoch(state.self(), epoch);
  state.must_check_state = true;
  state.SaveSyncedLater();
}

void ClusterBus::ApplySettings(const BusSettings& settings) {
  BusState& state = machine_->state;
  const bool ends_announcement =
      settings.announced_ip.empty() && !state.settings.announced_ip.empty();
  if (ends_announcement) state.self().ip.clear();  // a peer's next ping shows it
  state.settings = settings;
  machine_->ApplySettings();
  state.SaveLater();
}

void ClusterBus::Publish(std::string_view channel, std::string_view payload,
                         bool is_shard_channel) {
  machine_->sender.Publish(channel, payload, is_shard_channel);
}

}  // namespace zsetd
