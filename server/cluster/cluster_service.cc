#include "server/cluster/cluster_service.h"

#include <algorithm>
#include <bitset>
#include <utility>

#include "server/cluster/bus_port.h"
#include "server/cluster/topology/nodes_text.h"
#include "server/engine/services/services.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/unique_id.h"

namespace zsetd {
namespace {

absl::Status UnknownNode(std::string_view prefix, std::string_view id) {
  return Refusal("ERR " + std::string(prefix) + " " + std::string(id));
}

}  // namespace

ClusterService::ClusterService(Engine& engine, NodesStorage& storage, Connector& connector)
    : engine_(engine), storage_(storage) {
  if (!engine.settings().cluster_enabled) return;
  host_.emplace(engine, storage, connector);
  installations_.push_back(engine.services().cluster.Install(*this));
  installations_.push_back(engine.tasks().Add(*this));
  migrations_.emplace(engine, *host_, connector);
}

absl::Status ClusterService::Load() {
  if (!host_) return absl::OkStatus();
  if (absl::Status status = CheckClusterSettings(engine_.settings()); !status.ok()) return status;
  const absl::StatusOr<std::optional<std::string>> text = storage_.Load();
  if (!text.ok()) return text.status();
  if (*text) {
    absl::StatusOr<Topology> read = ReadNodesText(**text);
    if (!read.ok()) {
      return Refusal("the cluster configuration file '" + engine_.settings().cluster_config_file +
                     "' is invalid: " + std::string(ErrorLine(read.status())));
    }
    host_->Start(*std::move(read));
  } else {
    host_->Start(Topology(UniqueId()));
  }
  const std::string_view event =
      *text ? "Node configuration loaded, I'm " : "No cluster configuration found, I'm ";
  engine_.host().log->Write(LogLevel::kNotice, std::string(event) + self().id);
  return host_->Save(/*is_synced=*/true);
}

absl::Status ClusterService::Listen(PeerPort& peers) {
  return host_ ? host_->Listen(peers) : absl::OkStatus();
}

// As in Redis: a node that has keys of a slot without an owner takes it. For a slot of another node
// it imports the slot, so that the keys can be moved there; unless it was to delete the keys.
absl::Status ClusterService::OnLoaded() {
  if (!host_) return absl::OkStatus();
  const Store& store = engine_.store();
  for (int index = 1; index < store.database_count(); ++index) {
    if (store.database(index).keys().size() == 0) continue;
    return Refusal("You can't have keys in a DB different than DB 0 when in Cluster mode");
  }
  for (size_t slot = 0; slot < kSlotCount && !self().is_replica; ++slot) {
    const ClusterNode* owner = topology().OwnerOf(slot);
    if (!host_->HasKeysIn(slot) || owner == &self()) continue;
    if (topology().importing().contains(static_cast<uint16_t>(slot))) continue;
    if (host_->eraser().slots().Contains(slot)) continue;
    owner == nullptr ? bus().SetOwner(slot, &self()) : bus().StartImporting(slot, *owner);
  }
  const ClusterNode& master = topology().MasterOf(self());
  if (&master != &self()) host_->FollowMaster(master);
  host_->OnLoaded();
  return host_->Settle();
}

bool ClusterService::HasKeys() const { return engine_.store().database(0).keys().size() > 0; }

TopologyViews ClusterService::Views() const {
  return {engine_.settings(), topology(), host_->ReplicationOffset()};
}

ClusterControl::SlotState ClusterService::StateOf(size_t slot) const {
  const Topology& nodes = topology();
  const ClusterNode* owner = nodes.OwnerOf(slot);
  const ClusterNode& own = nodes.self();
  SlotState state;
  if (owner == &own) {
    if (!host_->bus().IsWithheld(slot)) state.owner = Owner::kSelf;
  } else if (owner != nullptr) {
    state.owner =
        own.is_replica && own.master_id == owner->id ? Owner::kMasterOfSelf : Owner::kOther;
  }
  const auto number = static_cast<uint16_t>(slot);
  if (!nodes.migrating().empty()) state.is_migrating = nodes.migrating().contains(number);
  if (!nodes.importing().empty()) state.is_importing = nodes.importing().contains(number);
  return state;
}

std::string ClusterService::OwnerAddress(size_t slot, bool tls) const {
  return Views().AddressOf(*topology().OwnerOf(slot), tls);
}

std::string ClusterService::TargetAddress(size_t slot, bool tls) const {
  return Views().AddressOf(*topology().migrating().at(static_cast<uint16_t>(slot)), tls);
}

absl::StatusOr<std::vector<std::string>> ClusterService::ReplicaLines(std::string_view master_id,
                                                                      bool tls) const {
  const ClusterNode* master = topology().Find(master_id);
  if (master == nullptr) return UnknownNode("Unknown node", master_id);
  if (master->is_replica) return Refusal("ERR The specified node is not a master");
  return Views().ReplicaLines(*master, tls);
}

ClusterBusStatus ClusterService::BusStatus() const {
  const BusLinks& links = host_->links();
  ClusterBusStatus status = {.messages = {},
                             .connections = links.count(),
                             .connection_bytes = links.BytesUsed(),
                             .overflows = links.overflows()};
  const ClusterBus& bus = host_->bus();
  for (size_t type = 0; type < kBusMessageTypes; ++type) {
    status.messages.push_back({.type = BusMessageName(static_cast<BusMessageType>(type)),
                               .sent = bus.sent_messages()[type],
                               .received = bus.received_messages()[type]});
  }
  return status;
}

size_t ClusterService::CountedConnections() const {
  return std::max(2 * (topology().nodes().size() - 1), host_->links().count());
}

std::vector<ClusterLinkView> ClusterService::Links() const {
  std::vector<ClusterLinkView> views;
  for (const BusLink& link : host_->bus().Links()) {
    const BusLinks::Status status = host_->links().StatusOf(link.id);
    views.push_back({.node_id = link.node_id,
                     .is_incoming = link.is_inbound,
                     .created = link.created,
                     .unsent_bytes = status.unsent_bytes,
                     .capacity = status.capacity});
  }
  return views;
}

absl::StatusOr<size_t> ClusterService::CountFailureReports(std::string_view id) const {
  const ClusterNode* node = topology().Find(id);
  if (node == nullptr) return UnknownNode("Unknown node", id);
  return host_->bus().CountFailureReports(*node);
}

void ClusterService::Publish(std::string_view channel, std::string_view message,
                             bool is_shard_channel) {
  bus().Publish(channel, message, is_shard_channel);
}

absl::Status ClusterService::AddSlots(std::span<const SlotRange> ranges) {
  return ChangeOwners(ranges, &self());
}

absl::Status ClusterService::DeleteSlots(std::span<const SlotRange> ranges) {
  return ChangeOwners(ranges, nullptr);
}

// As in Redis, the first slot that cannot be changed decides, in the order of the request.
absl::Status ClusterService::CheckSlots(std::span<const SlotRange> ranges, bool adds) const {
  std::bitset<kSlotCount> seen;
  for (const SlotRange range : ranges) {
    for (size_t slot = range.first; slot <= range.last; ++slot) {
      const bool has_owner = topology().OwnerOf(slot) != nullptr;
      const bool is_seen = seen[slot];
      seen.set(slot);
      if (has_owner != adds && !is_seen) continue;
      const std::string_view reason = has_owner != adds ? " specified multiple times"
                                      : has_owner       ? " is already busy"
                                                        : " is already unassigned";
      return Refusal("ERR Slot " + std::to_string(slot) + std::string(reason));
    }
  }
  return absl::OkStatus();
}

// Gives slots without an owner to `owner`, or with null removes the owners of slots that have one.
absl::Status ClusterService::ChangeOwners(std::span<const SlotRange> ranges,
                                          const ClusterNode* owner) {
  absl::Status checked = CheckSlots(ranges, /*adds=*/owner != nullptr);
  if (!checked.ok()) return checked;
  for (const SlotRange range : ranges) {
    for (size_t slot = range.first; slot <= range.last; ++slot) {
      bus().EndMove(slot);  // while a slot is imported, other nodes cannot claim it
      bus().SetOwner(slot, owner);
    }
  }
  return host_->Settle();
}

absl::Status ClusterService::FlushSlots() {
  if (HasKeys()) return Refusal("ERR DB must be empty to perform CLUSTER FLUSHSLOTS.");
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    if (topology().OwnerOf(slot) == &self()) bus().SetOwner(slot, nullptr);
  }
  return host_->Settle();
}

// Returns the node that a slot moves to or from.
absl::StatusOr<const ClusterNode*> ClusterService::MasterForMove(std::string_view id) const {
  const ClusterNode* node = topology().Find(id);
  if (node == nullptr) return UnknownNode("I don't know about node", id);
  if (node->is_replica) return Refusal("ERR Target node is not a master");
  return node;
}

absl::Status ClusterService::StartMigrating(size_t slot, std::string_view target_id) {
  if (topology().OwnerOf(slot) != &self()) {
    return Refusal("ERR I'm not the owner of hash slot " + std::to_string(slot));
  }
  const absl::StatusOr<const ClusterNode*> target = MasterForMove(target_id);
  if (!target.ok()) return target.status();
  if (*target == &self()) {
    return Refusal("ERR I'm already the owner of hash slot " + std::to_string(slot));
  }
  bus().StartMigrating(slot, **target);
  return host_->Settle();
}

absl::Status ClusterService::StartImporting(size_t slot, std::string_view source_id) {
  if (topology().OwnerOf(slot) == &self()) {
    return Refusal("ERR I'm already the owner of hash slot " + std::to_string(slot));
  }
  const absl::StatusOr<const ClusterNode*> source = MasterForMove(source_id);
  if (!source.ok()) return source.status();
  if (*source == &self()) {
    return Refusal("ERR I'm not the owner of hash slot " + std::to_string(slot));
  }
  constexpr Micros kBudget{5000};
  SlotEraser& eraser = host_->eraser();
  if (eraser.slots().Contains(slot) &&
      !eraser.EraseUntil(slot, engine_.host().stopwatch() + kBudget)) {
    if (topology().OwnerOf(slot) == nullptr) {
      return Refusal("ERR This node has keys of hash slot " + std::to_string(slot) +
                     " to delete as soon as it knows another owner of the slot.");
    }
    return Refusal("ERR This node still deletes keys of hash slot " + std::to_string(slot) +
                   ", which it has lost. Try again later.");
  }
  bus().StartImporting(slot, **source);
  return host_->Settle();
}

absl::Status ClusterService::EndMove(size_t slot) {
  bus().EndMove(slot);
  return host_->Settle();
}

absl::Status ClusterService::AssignSlot(size_t slot, std::string_view id) {
  const ClusterNode* node = topology().Find(id);
  if (node == nullptr) return UnknownNode("Unknown node", id);
  if (node->is_replica) return Refusal("ERR Target node is not a master");
  const bool is_own = topology().OwnerOf(slot) == &self();
  if (is_own && host_->HasKeysIn(slot)) {
    if (node != &self()) {
      return Refusal("ERR Can't assign hashslot " + std::to_string(slot) +
                     " to a different node while I still hold keys for this hash slot.");
    }
  } else if (is_own) {
    bus().EndMove(slot);  // also if the slot stays here
  }
  const absl::Status assigned = bus().AssignSlot(slot, *node);
  absl::Status settled = host_->Settle();
  return assigned.ok() ? settled : assigned;
}

absl::StatusOr<uint64_t> ClusterService::BumpEpoch(bool& has_changed) {
  has_changed = bus().BumpEpoch();
  if (absl::Status settled = host_->Settle(); !settled.ok()) return settled;
  return self().config_epoch;
}

absl::Status ClusterService::SetConfigEpoch(int64_t epoch) {
  if (epoch < 0 || static_cast<uint64_t>(epoch) > kMostStatedEpoch) {
    return Refusal("ERR Invalid config epoch specified: " + std::to_string(epoch));
  }
  if (topology().nodes().size() > 1) {
    return Refusal(
        "ERR The user can assign a config epoch only when the node does not know any other node.");
  }
  if (self().config_epoch != 0) return Refusal("ERR Node config epoch is already non-zero");
  bus().SetConfigEpoch(static_cast<uint64_t>(epoch));
  return host_->Settle();
}

absl::Status ClusterService::Meet(std::string_view ip, int64_t port, int64_t bus_port) {
  if (absl::Status met = bus().Meet(ip, port, bus_port); !met.ok()) return met;
  return host_->Settle();
}

absl::Status ClusterService::FailOver(ClusterFailover kind) {
  if (absl::Status started = bus().Failover(kind); !started.ok()) return started;
  return host_->Settle();
}

// As in Redis 7.2, a node that another one has forgotten in the meantime is no error: redis-cli
// sends the command to each node.
absl::Status ClusterService::Forget(std::string_view id) {
  const ClusterNode* node = topology().Find(id);
  if (node == nullptr && bus().HasForgotten(std::string(id))) return absl::OkStatus();
  if (node == nullptr) return UnknownNode("Unknown node", id);
  if (node == &self()) return Refusal("ERR I tried hard but I can't forget myself...");
  if (self().is_replica && self().master_id == node->id) {
    return Refusal("ERR Can't forget my master!");
  }
  bus().Forget(*node);
  return host_->Settle();
}

absl::Status ClusterService::Replicate(std::string_view master_id) {
  const ClusterNode* master = topology().Find(master_id);
  if (master == nullptr) return UnknownNode("Unknown node", master_id);
  if (master == &self()) return Refusal("ERR Can't replicate myself");
  if (master->is_replica) return Refusal("ERR I can only replicate a master, not a replica.");
  if (!self().is_replica && (self().HasSlots() || HasKeys())) {
    return Refusal("ERR To set a master the node must be empty and without assigned slots.");
  }
  bus().Replicate(*master);
  return host_->Settle();
}

absl::Status ClusterService::Reset(bool hard) {
  if (!self().is_replica && HasKeys()) {
    return Refusal("ERR CLUSTER RESET can't be called with master nodes containing keys");
  }
  bus().Reset(hard);
  return host_->Settle();
}

absl::Status ClusterService::Save() { return host_->SaveSynced(); }

}  // namespace zsetd
