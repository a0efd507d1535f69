#include "server/engine/notify/blocked_clients.h"

#include <cassert>

#include "core/util/allocation_size.h"
#include "server/engine/client/client.h"

namespace zsetd {
namespace {

constexpr size_t kTreeNodeBytes = 4 * sizeof(void*);  // of a std::map's node, without its element

}  // namespace

// The key among those of the wait, whose vector may have room for twice as many, and as if no other
// client waited for it.
size_t BlockedClients::BytesPerKey(size_t name_bytes) {
  constexpr size_t kKeyNode = AllocationSize(kTreeNodeBytes + sizeof(std::pair<Key, Waits>));
  constexpr size_t kWaitingNode =
      AllocationSize(kTreeNodeBytes + sizeof(std::pair<uint64_t, Client*>));
  return 2 * sizeof(Key) + kKeyNode + kWaitingNode + 2 * StringAllocationSize(name_bytes);
}

// As if it had a group of its own.
size_t BlockedClients::BytesPerGroup(size_t name_bytes) {
  constexpr size_t kGroupNode =
      AllocationSize(kTreeNodeBytes + sizeof(std::pair<GroupName, Group>));
  constexpr size_t kFirstNode =
      AllocationSize(kTreeNodeBytes + sizeof(std::pair<uint64_t, Group*>));
  constexpr size_t kDueNode =
      AllocationSize(kTreeNodeBytes + sizeof(std::pair<std::pair<Millis, uint64_t>, Key>));
  return kGroupNode + kFirstNode + kDueNode + StringAllocationSize(name_bytes);
}

void BlockedClients::Add(Client& client, BlockedCommand wait) {
  assert(!client.blocked && wait.wait != nullptr);
  wait.number = ++last_number_;
  wait.allocated_bytes = wait.argv.allocated_bytes() + wait.wait->BytesUsed();
  for (const Key& key : wait.keys) wait.allocated_bytes += BytesPerKey(key.second.size());
  for (const Key& key : wait.keys) {
    Waits& waits = by_key_[key];
    if (!wait.wait->IsTimed()) {
      waits.any.emplace(wait.number, &client);
      continue;
    }
    wait.allocated_bytes += BytesPerGroup(key.second.size());
    Group& group = waits.groups[NameOf(*wait.wait)];
    if (group.number == 0) group.number = ++last_group_;
    if (group.waiting.empty()) waits.by_first.emplace(wait.number, &group);
    group.waiting.emplace(wait.number, &client);
  }
  if (wait.until) by_deadline_.emplace(*wait.until, &client);
  ending_without_key_ += wait.wait->EndsWithoutKey();
  client.blocked = std::move(wait);
  ++count_;
}

void BlockedClients::Remove(Client& client) {
  if (!client.blocked) return;
  for (const Key& key : client.blocked->keys) RemoveFrom(key, *client.blocked);
  if (client.blocked->until) by_deadline_.erase({*client.blocked->until, &client});
  assert(count_ > 0);
  ending_without_key_ -= client.blocked->wait->EndsWithoutKey();
  client.blocked.reset();
  --count_;
}

void BlockedClients::RemoveFrom(const Key& key, const BlockedCommand& wait) {
  const auto waits = by_key_.find(key);
  if (waits == by_key_.end()) return;  // the key was named twice
  if (!wait.wait->IsTimed()) {
    waits->second.any.erase(wait.number);
  } else {
    RemoveFromGroup(key, waits->second, wait);
  }
  if (waits->second.empty()) by_key_.erase(waits);
}

void BlockedClients::RemoveFromGroup(const Key& key, Waits& waits, const BlockedCommand& wait) {
  const auto found = waits.groups.find(NameOf(*wait.wait));
  if (found == waits.groups.end()) return;  // the key was named twice
  Group& group = found->second;
  group.waiting.erase(wait.number);
  auto first = waits.by_first.extract(wait.number);
  if (group.waiting.empty()) {
    SetDue(key, group, std::nullopt);
    waits.groups.erase(found);
  } else if (!first.empty()) {
    first.key() = group.waiting.begin()->first;
    waits.by_first.insert(std::move(first));
  }
}

BlockedClients::GroupName BlockedClients::NameOf(const Wait& wait) {
  assert(wait.IsTimed());
  if (const TimedScoreRange* const scores = wait.scores()) return *scores;
  return *wait.claim();
}

void BlockedClients::SetDue(const Key& key, Group& group, std::optional<Millis> due) {
  if (group.due == due) return;
  if (group.due) by_due_.erase({*group.due, group.number});
  group.due = due;
  if (due) by_due_.emplace(std::pair(*due, group.number), key);
}

void BlockedClients::Touch(int database, std::string_view key) {
  if (by_key_.empty()) return;
  const Key touched(database, key);
  if (!by_key_.contains(touched) || !is_ready_.insert(touched).second) return;
  ready_.push_back(touched);
}

void BlockedClients::TouchAll(int database) {
  for (const auto& [key, waits] : by_key_) {
    if (key.first == database) Touch(database, key.second);
  }
}

std::optional<BlockedClients::Key> BlockedClients::TakeReady() {
  assert(ready_.size() == is_ready_.size());
  if (ready_.empty()) return std::nullopt;
  ++pass_;
  Key key = std::move(ready_.front());
  ready_.pop_front();
  is_ready_.erase(key);
  return key;
}

// A group whose first client comes before has been asked, and still has that client: it cannot be
// served.
Client* BlockedClients::NextFor(const Key& key, uint64_t after) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  const Waits& waits = found->second;
  const auto next = waits.any.upper_bound(after);
  auto group = waits.by_first.upper_bound(after);
  while (group != waits.by_first.end() && group->second->deferred_in == pass_) ++group;
  const bool has_next = next != waits.any.end(), has_group = group != waits.by_first.end();
  if (has_group && (!has_next || group->first < next->first)) {
    return group->second->waiting.begin()->second;
  }
  return has_next ? next->second : nullptr;
}

void BlockedClients::Defer(Client& client, const Key& key, std::optional<Millis> due) {
  assert(client.blocked);
  Group& group = by_key_.at(key).groups.at(NameOf(*client.blocked->wait));
  group.deferred_in = pass_;
  SetDue(key, group, due);
}

void BlockedClients::ClearDue(const Key& key) {
  const auto waits = by_key_.find(key);
  if (waits == by_key_.end()) return;
  for (const auto& [first, group] : waits->second.by_first) SetDue(key, *group, std::nullopt);
}

bool BlockedClients::TouchDue(Millis now) {
  if (!IsDue(now)) return false;
  const Key key = by_due_.begin()->second;
  ClearDue(key);
  Touch(key.first, key.second);
  return true;
}

std::optional<Millis> BlockedClients::NextDue() const {
  if (by_due_.empty()) return std::nullopt;
  return by_due_.begin()->first.first;
}

Client* BlockedClients::FirstDue(Millis now) const {
  if (by_deadline_.empty() || by_deadline_.begin()->first > now) return nullptr;
  return by_deadline_.begin()->second;
}

std::optional<Millis> BlockedClients::NextDeadline() const {
  if (by_deadline_.empty()) return std::nullopt;
  return by_deadline_.begin()->first;
}

}  // namespace zsetd
