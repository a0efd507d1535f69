#include "server/cluster/topology/topology.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {

bool IsNodeId(std::string_view text) {
  return text.size() == kNodeIdLength && std::ranges::all_of(text, [](char digit) {
           return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
         });
}

Topology::Topology(const std::string& own_id) : self_(nullptr) { self_ = &FindOrAdd(own_id); }

const ClusterNode* Topology::Find(std::string_view id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : found->second.get();
}

ClusterNode* Topology::Find(std::string_view id) {
  return const_cast<ClusterNode*>(std::as_const(*this).Find(id));
}

ClusterNode& Topology::FindOrAdd(std::string_view id) {
  assert(IsNodeId(id));
  if (ClusterNode* known = Find(id)) return *known;
  auto node = std::make_unique<ClusterNode>();
  node->id = id;
  return *nodes_.emplace(std::string(id), std::move(node)).first->second;
}

void Topology::Remove(const ClusterNode& node) {
  assert(&node != self_);
  for (size_t slot = 0; slot < kSlotCount && node.HasSlots(); ++slot) {
    if (owners_[slot] == &node) SetOwner(slot, nullptr);
  }
  const auto refers = [&](const auto& move) { return move.second == &node; };
  std::erase_if(migrating_, refers);
  std::erase_if(importing_, refers);
  for (const auto& [id, other] : nodes_) {
    if (other->master_id == node.id) other->master_id.clear();
  }
  nodes_.erase(nodes_.find(node.id));
}

void Topology::Rename(ClusterNode& node, const std::string& id) {
  assert(IsNodeId(id) && Find(id) == nullptr);
  const std::string old_id = node.id;
  auto entry = nodes_.extract(old_id);
  entry.key() = id;
  node.id = id;
  nodes_.insert(std::move(entry));
  for (const auto& [other_id, other] : nodes_) {
    if (other->master_id == old_id) other->master_id = id;
  }
}

void Topology::SetOwner(size_t slot, ClusterNode* owner) {
  if (owners_[slot] != nullptr) owners_[slot]->slots.Erase(slot);
  if (owner != nullptr) owner->slots.Insert(slot);
  owners_[slot] = owner;
  if (owner != self_) migrating_.erase(static_cast<uint16_t>(slot));
  if (owner == self_) importing_.erase(static_cast<uint16_t>(slot));
}

void Topology::StartMigrating(size_t slot, const ClusterNode& target) {
  assert(owners_[slot] == self_);
  migrating_[static_cast<uint16_t>(slot)] = &target;
}

void Topology::StartImporting(size_t slot, const ClusterNode& source) {
  assert(owners_[slot] != self_);
  importing_[static_cast<uint16_t>(slot)] = &source;
}

void Topology::EndMove(size_t slot) {
  migrating_.erase(static_cast<uint16_t>(slot));
  importing_.erase(static_cast<uint16_t>(slot));
}

void Topology::EndAllMoves() {
  migrating_.clear();
  importing_.clear();
}

std::map<const ClusterNode*, std::vector<SlotRange>> Topology::Ranges() const {
  std::map<const ClusterNode*, std::vector<SlotRange>> ranges;
  for (const auto& [id, node] : nodes_) {
    if (node->HasSlots()) ranges.emplace(node.get(), RangesOf(node->slots));
  }
  return ranges;
}

const ClusterNode* Topology::KnownMasterOf(const ClusterNode& node) const {
  return node.is_replica && !node.master_id.empty() ? Find(node.master_id) : nullptr;
}

ClusterNode* Topology::KnownMasterOf(const ClusterNode& node) {
  return const_cast<ClusterNode*>(std::as_const(*this).KnownMasterOf(node));
}

const ClusterNode& Topology::MasterOf(const ClusterNode& node) const {
  const ClusterNode* master = KnownMasterOf(node);
  return master == nullptr ? node : *master;
}

std::string Topology::ShardIdOf(const ClusterNode& node) const {
  const ClusterNode& master = MasterOf(node);
  if (!master.shard_id.empty()) return master.shard_id;
  return node.shard_id.empty() ? master.id : node.shard_id;
}

uint64_t Topology::GreatestConfigEpoch() const {
  uint64_t greatest = current_epoch;
  for (const auto& [id, node] : nodes_) greatest = std::max(greatest, node->config_epoch);
  return greatest;
}

void Topology::RaiseConfigEpoch(ClusterNode& node, uint64_t epoch) {
  node.config_epoch = std::max(node.config_epoch, epoch);
  current_epoch = std::max(current_epoch, epoch);
}

std::vector<SlotRange> RangesOf(const SlotSet& slots) {
  std::vector<SlotRange> ranges;
  slots.ForEachRange([&](size_t first, size_t last) {
    ranges.push_back({static_cast<uint16_t>(first), static_cast<uint16_t>(last)});
  });
  return ranges;
}

}  // namespace zsetd
