#include "server/cluster/cluster_service.h"

#include <algorithm>
#include <utility>

#include "server/cluster/topology/nodes_text.h"
#include "server/engine/services/master_control.h"
#include "server/engine/services/services.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/unique_id.h"

namespace zsetd {
namespace {

absl::Status UnknownNode(std::string_view prefix, std::string_view id) {
  return Refusal("ERR " + std::string(prefix) + " " + std::string(id));
}

}  // namespace

ClusterService::ClusterService(Engine& engine, NodesStorage& storage)
    : engine_(engine), storage_(storage) {
  if (!engine.settings().cluster_enabled) return;
  topology_.emplace(UniqueId());
  UpdateSelf();
  UpdateSummary();
  installations_.push_back(engine.services().cluster.Install(*this));
  installations_.push_back(engine.tasks().Add(*this));
}

absl::Status ClusterService::Load() {
  if (!topology_) return absl::OkStatus();
  if (MasterIn(engine_.settings())) {
    return Refusal("replicaof directive not allowed in cluster mode");
  }
  const absl::StatusOr<std::optional<std::string>> text = storage_.Load();
  if (!text.ok()) return text.status();
  if (*text) {
    absl::StatusOr<Topology> read = ReadNodesText(**text);
    if (!read.ok()) {
      return Refusal("the cluster configuration file '" + engine_.settings().cluster_config_file +
                     "' is invalid: " + std::string(ErrorLine(read.status())));
    }
    topology_ = *std::move(read);
  }
  UpdateSelf();
  UpdateSummary();
  engine_.host().log->Write(LogLevel::kNotice, (*text ? "Node configuration loaded, I'm "
                                                      : "No cluster "
                                                        "configuration found, I'm ") +
                                                   topology_->self().id);
  return storage_.Save(NodesFileText(*topology_));
}

// As in Redis: a node that has keys of a slot without an owner takes it. For a slot of another node
// it imports the slot, so that the keys can be moved there.
absl::Status ClusterService::OnLoaded() {
  if (!topology_) return absl::OkStatus();
  const Store& store = engine_.store();
  for (int index = 1; index < store.database_count(); ++index) {
    if (store.database(index).keys().size() == 0) continue;
    return Refusal("You can't have keys in a DB different than DB 0 when in Cluster mode");
  }
  ClusterNode& self = topology_->self();
  bool has_changed = false;
  for (size_t slot = 0; slot < kSlotCount && !self.is_replica; ++slot) {
    const ClusterNode* owner = topology_->OwnerOf(slot);
    if (!HasKeysIn(slot) || owner == &self || topology_->importing().contains(slot)) continue;
    has_changed = true;
    owner == nullptr ? topology_->SetOwner(slot, &self) : topology_->StartImporting(slot, *owner);
  }
  FollowMaster();
  return has_changed ? ApplyChange() : absl::OkStatus();
}

void ClusterService::FollowMaster() {
  const ClusterNode& self = topology_->self();
  const ClusterNode& master = topology_->MasterOf(self);
  if (&master == &self || master.ip.empty()) return;
  const int64_t port = PortOf(master, engine_.settings().tls_replication);
  const absl::Status followed =
      engine_.services().master->Follow(master.ip, port, "the cluster configuration");
  if (!followed.ok()) engine_.host().log->Write(LogLevel::kWarning, ErrorLine(followed));
}

// Updates what the settings state about this node.
void ClusterService::UpdateSelf() {
  constexpr int64_t kBusPortDistance = 10000;
  const Settings& settings = engine_.settings();
  ClusterNode& self = topology_->self();
  const auto either = [](int64_t announced, int64_t own) {
    return announced != 0 ? announced : own;
  };
  if (!settings.cluster_announce_ip.empty()) self.ip = settings.cluster_announce_ip;
  self.hostname = settings.cluster_announce_hostname;
  self.port = either(settings.cluster_announce_port, settings.port);
  self.tls_port = either(settings.cluster_announce_tls_port, settings.tls_port);
  const int64_t base = settings.port != 0 ? settings.port : settings.tls_port;
  const int64_t bus = either(settings.cluster_port, base + kBusPortDistance);
  self.bus_port = either(settings.cluster_announce_bus_port, bus);
}

// O(slots).
void ClusterService::UpdateSummary() {
  ClusterSummary summary;
  std::vector<const ClusterNode*> masters;
  size_t reachable = 0;
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    const ClusterNode* owner = topology_->OwnerOf(slot);
    if (owner == nullptr) continue;
    ++summary.assigned_slots;
    summary.failed_slots += owner->has_failed;
    summary.suspected_slots += owner->may_have_failed && !owner->has_failed;
    if (masters.empty() || masters.back() != owner) masters.push_back(owner);
  }
  std::ranges::sort(masters);
  masters.erase(std::unique(masters.begin(), masters.end()), masters.end());
  for (const ClusterNode* master : masters) {
    reachable += !master->has_failed && !master->may_have_failed;
  }
  summary.nodes = topology_->nodes().size();
  summary.masters_with_slots = masters.size();
  summary.current_epoch = topology_->current_epoch;
  summary.own_epoch = topology_->MasterOf(topology_->self()).config_epoch;
  const bool has_majority = reachable >= masters.size() / 2 + 1 && !masters.empty();
  const bool is_covered = summary.assigned_slots == kSlotCount && summary.failed_slots == 0;
  summary.is_up = is_covered && has_majority;
  summary_ = summary;
}

bool ClusterService::IsUp() const {
  if (summary_.is_up) return true;
  if (engine_.settings().cluster_require_full_coverage) return false;
  return summary_.masters_with_slots > 0;
}

absl::Status ClusterService::ApplyChange() {
  topology_->current_epoch = topology_->GreatestConfigEpoch();
  UpdateSummary();
  return Save();
}

absl::Status ClusterService::Save() {
  UpdateSelf();
  const absl::Status saved = storage_.Save(NodesFileText(*topology_));
  if (saved.ok()) return saved;
  const std::string line =
      "ERR error saving the cluster node config: " + std::string(ErrorLine(saved));
  engine_.host().log->Write(LogLevel::kWarning, line);
  return Refusal(line);
}

bool ClusterService::HasKeysIn(size_t slot) const {
  return engine_.store().database(0).keys().CountInSlot(slot) > 0;
}

bool ClusterService::HasKeys() const { return engine_.store().database(0).keys().size() > 0; }

void ClusterService::SetOwner(size_t slot, ClusterNode* owner) {
  slots_have_left_ |= topology_->OwnerOf(slot) == &topology_->self() && owner != &topology_->self();
  topology_->SetOwner(slot, owner);
}

ClusterControl::SlotState ClusterService::StateOf(size_t slot) const {
  const Topology& topology = *topology_;
  const ClusterNode* owner = topology.OwnerOf(slot);
  const ClusterNode& self = topology.self();
  SlotState state;
  if (owner == &self) {
    state.owner = Owner::kSelf;
  } else if (owner != nullptr) {
    state.owner =
        self.is_replica && self.master_id == owner->id ? Owner::kMasterOfSelf : Owner::kOther;
  }
  const auto number = static_cast<uint16_t>(slot);
  if (!topology.migrating().empty()) state.is_migrating = topology.migrating().contains(number);
  if (!topology.importing().empty()) state.is_importing = topology.importing().contains(number);
  return state;
}

int64_t ClusterService::PortOf(const ClusterNode& node, bool tls) const {
  const int64_t wanted = tls ? node.tls_port : node.port;
  return wanted != 0 ? wanted : std::max(node.port, node.tls_port);
}

std::string ClusterService::EndpointOf(const ClusterNode& node) const {
  switch (engine_.settings().cluster_preferred_endpoint_type) {
    case ClusterEndpointType::kHostname:
      return node.hostname.empty() ? "?" : node.hostname;
    case ClusterEndpointType::kUnknownEndpoint:
      return "";
    default:
      return node.ip;
  }
}

std::string ClusterService::AddressOf(const ClusterNode& node, bool tls) const {
  return EndpointOf(node) + ":" + std::to_string(PortOf(node, tls));
}

std::string ClusterService::OwnerAddress(size_t slot, bool tls) const {
  return AddressOf(*topology_->OwnerOf(slot), tls);
}

std::string ClusterService::TargetAddress(size_t slot, bool tls) const {
  return AddressOf(*topology_->migrating().at(static_cast<uint16_t>(slot)), tls);
}

ClusterSummary ClusterService::Summary() const {
  ClusterSummary summary = summary_;
  summary.is_up = IsUp();
  return summary;
}

ClusterNodeView ClusterService::ViewOf(const ClusterNode& node) const {
  const ClusterEndpointType type = engine_.settings().cluster_preferred_endpoint_type;
  return {.id = node.id,
          .shard_id = topology_->ShardIdOf(node),
          .ip = node.ip,
          .hostname = node.hostname,
          .endpoint = EndpointOf(node),
          .endpoint_is_known = type != ClusterEndpointType::kUnknownEndpoint,
          .port = node.port,
          .tls_port = node.tls_port,
          .is_self = &node == &topology_->self(),
          .is_replica = node.is_replica,
          .has_failed = node.has_failed,
          .master_id = node.master_id,
          .ranges = {}};
}

std::vector<ClusterNodeView> ClusterService::Nodes() const {
  std::vector<ClusterNodeView> views;
  auto ranges = topology_->Ranges();
  for (const auto& [id, node] : topology_->nodes()) {
    views.push_back(ViewOf(*node));
    const auto found = ranges.find(node.get());
    if (found != ranges.end()) views.back().ranges = std::move(found->second);
  }
  return views;
}

std::string ClusterService::NodesText(bool tls) const {
  std::string text;
  const auto ranges = topology_->Ranges();
  for (const auto& [id, node] : topology_->nodes()) {
    const auto found = ranges.find(node.get());
    text += NodeLine(*topology_, *node,
                     found == ranges.end() ? std::span<const SlotRange>() : found->second,
                     PortOf(*node, tls)) +
            "\n";
  }
  return text;
}

absl::StatusOr<std::vector<std::string>> ClusterService::ReplicaLines(std::string_view master_id,
                                                                      bool tls) const {
  const ClusterNode* master = topology_->Find(master_id);
  if (master == nullptr) return UnknownNode("Unknown node", master_id);
  if (master->is_replica) return Refusal("ERR The specified node is not a master");
  std::vector<std::string> lines;
  for (const auto& [id, node] : topology_->nodes()) {
    if (node->master_id == master->id) {
      lines.push_back(NodeLine(*topology_, *node, {}, PortOf(*node, tls)));
    }
  }
  return lines;
}

absl::Status ClusterService::AddSlots(std::span<const SlotRange> ranges) {
  const absl::StatusOr<std::bitset<kSlotCount>> slots = SlotsOf(ranges);
  for (size_t slot = 0; slot < kSlotCount && slots.ok(); ++slot) {
    if ((*slots)[slot] && topology_->OwnerOf(slot) != nullptr) {
      return Refusal("ERR Slot " + std::to_string(slot) + " is already busy");
    }
  }
  if (!slots.ok()) return slots.status();
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    if ((*slots)[slot]) SetOwner(slot, &topology_->self());
  }
  return ApplyChange();
}

absl::Status ClusterService::DeleteSlots(std::span<const SlotRange> ranges) {
  const absl::StatusOr<std::bitset<kSlotCount>> slots = SlotsOf(ranges);
  for (size_t slot = 0; slot < kSlotCount && slots.ok(); ++slot) {
    if ((*slots)[slot] && topology_->OwnerOf(slot) == nullptr) {
      return Refusal("ERR Slot " + std::to_string(slot) + " is already unassigned");
    }
  }
  if (!slots.ok()) return slots.status();
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    if ((*slots)[slot]) SetOwner(slot, nullptr);
  }
  return ApplyChange();
}

absl::Status ClusterService::FlushSlots() {
  if (HasKeys()) return Refusal("ERR DB must be empty to perform CLUSTER FLUSHSLOTS.");
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    if (topology_->OwnerOf(slot) == &topology_->self()) SetOwner(slot, nullptr);
  }
  return ApplyChange();
}

// Returns the node that a slot moves to or from.
absl::StatusOr<ClusterNode*> ClusterService::MasterForMove(std::string_view id) {
  ClusterNode* node = topology_->Find(id);
  if (node == nullptr) return UnknownNode("I don't know about node", id);
  if (node->is_replica) return Refusal("ERR Target node is not a master");
  return node;
}

absl::Status ClusterService::StartMigrating(size_t slot, std::string_view target_id) {
  if (topology_->OwnerOf(slot) != &topology_->self()) {
    return Refusal("ERR I'm not the owner of hash slot " + std::to_string(slot));
  }
  const absl::StatusOr<ClusterNode*> target = MasterForMove(target_id);
  if (!target.ok()) return target.status();
  topology_->StartMigrating(slot, **target);
  return ApplyChange();
}

absl::Status ClusterService::StartImporting(size_t slot, std::string_view source_id) {
  if (topology_->OwnerOf(slot) == &topology_->self()) {
    return Refusal("ERR I'm already the owner of hash slot " + std::to_string(slot));
  }
  const absl::StatusOr<ClusterNode*> source = MasterForMove(source_id);
  if (!source.ok()) return source.status();
  topology_->StartImporting(slot, **source);
  return ApplyChange();
}

absl::Status ClusterService::EndMove(size_t slot) {
  topology_->EndMove(slot);
  return ApplyChange();
}

absl::Status ClusterService::AssignSlot(size_t slot, std::string_view id) {
  ClusterNode* node = topology_->Find(id);
  const ClusterNode& self = topology_->self();
  if (node == nullptr) return UnknownNode("Unknown node", id);
  if (node->is_replica) return Refusal("ERR Target node is not a master");
  if (topology_->OwnerOf(slot) == &self && node != &self && HasKeysIn(slot)) {
    return Refusal("ERR Can't assign hashslot " + std::to_string(slot) +
                   " to a different node while I still hold keys for this hash slot.");
  }
  const bool was_imported = topology_->importing().contains(static_cast<uint16_t>(slot));
  if (node == &self && was_imported) ClaimGreatestEpoch();
  SetOwner(slot, node);
  return ApplyChange();
}

// Other nodes prefer the owner with the greatest epoch.
bool ClusterService::ClaimGreatestEpoch() {
  ClusterNode& self = topology_->self();
  const uint64_t greatest = topology_->GreatestConfigEpoch();
  if (self.config_epoch != 0 && self.config_epoch == greatest) return false;
  topology_->current_epoch = greatest + 1;
  self.config_epoch = greatest + 1;
  return true;
}

absl::StatusOr<uint64_t> ClusterService::BumpEpoch(bool& has_changed) {
  has_changed = ClaimGreatestEpoch();
  if (has_changed) {
    if (absl::Status applied = ApplyChange(); !applied.ok()) return applied;
  }
  return topology_->self().config_epoch;
}

absl::Status ClusterService::SetConfigEpoch(int64_t epoch) {
  if (epoch < 0) return Refusal("ERR Invalid config epoch specified: " + std::to_string(epoch));
  if (topology_->nodes().size() > 1) {
    return Refusal(
        "ERR The user can assign a config epoch only when the node does not know any other node.");
  }
  if (topology_->self().config_epoch != 0) {
    return Refusal("ERR Node config epoch is already non-zero");
  }
  topology_->self().config_epoch = static_cast<uint64_t>(epoch);
  return ApplyChange();
}

absl::Status ClusterService::Forget(std::string_view id) {
  const ClusterNode* node = topology_->Find(id);
  const ClusterNode& self = topology_->self();
  if (node == nullptr) return UnknownNode("Unknown node", id);
  if (node == &self) return Refusal("ERR I tried hard but I can't forget myself...");
  if (self.is_replica && self.master_id == node->id) {
    return Refusal("ERR Can't forget my master!");
  }
  topology_->Remove(*node);
  return ApplyChange();
}

absl::Status ClusterService::Replicate(std::string_view master_id) {
  const ClusterNode* master = topology_->Find(master_id);
  ClusterNode& self = topology_->self();
  if (master == nullptr) return UnknownNode("Unknown node", master_id);
  if (master == &self) return Refusal("ERR Can't replicate myself");
  if (master->is_replica) return Refusal("ERR I can only replicate a master, not a replica.");
  const bool has_slots = std::ranges::any_of(
      topology_->Ranges(), [&](const auto& owned) { return owned.first == &self; });
  if (!self.is_replica && (has_slots || HasKeys())) {
    return Refusal("ERR To set a master the node must be empty and without assigned slots.");
  }
  self.is_replica = true;
  self.master_id = master->id;
  slots_have_left_ = true;
  absl::Status applied = ApplyChange();
  if (applied.ok()) FollowMaster();
  return applied;
}

absl::Status ClusterService::Reset(bool hard) {
  ClusterNode& self = topology_->self();
  if (!self.is_replica && HasKeys()) {
    return Refusal("ERR CLUSTER RESET can't be called with master nodes containing keys");
  }
  if (std::exchange(self.is_replica, false)) {
    self.master_id.clear();
    engine_.services().master->Promote("CLUSTER RESET");
    engine_.store().ClearAll();
  }
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    topology_->EndMove(slot);
    SetOwner(slot, nullptr);
  }
  while (topology_->nodes().size() > 1) {
    const auto& first = *topology_->nodes().begin()->second;
    topology_->Remove(&first == &self ? *topology_->nodes().rbegin()->second : first);
  }
  self.shard_id.clear();
  if (hard) {
    topology_->Rename(self, UniqueId());
    self.config_epoch = 0;
    topology_->current_epoch = 0;
    topology_->last_vote_epoch = 0;
  }
  return ApplyChange();
}

void ClusterService::Tick(Micros) {
  if (!std::exchange(slots_have_left_, false)) return;
  engine_.blocked_runner().EndMisroutedWaits();
  EndShardSubscriptions();
}

// Like Redis, notifies the subscribers of shard channels that this node's shard does not serve any
// more.
void ClusterService::EndShardSubscriptions() {
  Channels& channels = engine_.notifier().channels();
  std::vector<std::string> names;
  for (const std::string_view name : channels.Matching(ChannelKind::kShardChannel, "*")) {
    const Owner owner = StateOf(KeySlot(name)).owner;
    if (owner != Owner::kSelf && owner != Owner::kMasterOfSelf) names.emplace_back(name);
  }
  for (const std::string& name : names) channels.EndShardChannel(name);
}

}  // namespace zsetd
