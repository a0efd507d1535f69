#include "server/engine/notify/blocked_clients.h"

#include <cassert>

#include "core/util/allocation_size.h"
#include "server/engine/client/client.h"

namespace zsetd {
namespace {

constexpr size_t kTreeNodeBytes = 4 * sizeof(void*);  // of a std::map's node, without its element

}  // namespace

// The key among those of the wait, whose vector may have room for twice as many, and as if nobody
// else waited for it.
size_t BlockedClients::BytesPerKey(size_t name_bytes) {
  constexpr size_t kKeyNode = AllocationSize(kTreeNodeBytes + sizeof(std::pair<Key, Waiting>));
  constexpr size_t kWaitingNode =
      AllocationSize(kTreeNodeBytes + sizeof(std::pair<uint64_t, Client*>));
  return 2 * sizeof(Key) + kKeyNode + kWaitingNode + 2 * StringAllocationSize(name_bytes);
}

void BlockedClients::Add(Client& client, BlockedCommand wait) {
  assert(!client.blocked);
  wait.number = ++last_number_;
  wait.allocated_bytes = wait.argv.allocated_bytes();
  for (const Key& key : wait.keys) wait.allocated_bytes += BytesPerKey(key.second.size());
  for (const Key& key : wait.keys) by_key_[key].emplace(wait.number, &client);
  if (wait.until) by_deadline_.emplace(*wait.until, &client);
  client.blocked = std::move(wait);
  ++count_;
}

void BlockedClients::Remove(Client& client) {
  if (!client.blocked) return;
  for (const Key& key : client.blocked->keys) {
    const auto waiting = by_key_.find(key);
    if (waiting == by_key_.end()) continue;  // the key was named twice
    waiting->second.erase(client.blocked->number);
    if (waiting->second.empty()) by_key_.erase(waiting);
  }
  if (client.blocked->until) by_deadline_.erase({*client.blocked->until, &client});
  client.blocked.reset();
  --count_;
}

void BlockedClients::Touch(int database, std::string_view key) {
  if (by_key_.empty()) return;
  const Key touched(database, key);
  if (!by_key_.contains(touched) || !is_ready_.insert(touched).second) return;
  ready_.push_back(touched);
}

void BlockedClients::TouchAll(int database) {
  for (const auto& [key, waiting] : by_key_) {
    if (key.first == database) Touch(database, key.second);
  }
}

std::optional<BlockedClients::Key> BlockedClients::TakeReady() {
  if (ready_.empty()) return std::nullopt;
  Key key = std::move(ready_.front());
  ready_.pop_front();
  is_ready_.erase(key);
  return key;
}

Client* BlockedClients::NextFor(const Key& key, uint64_t after) const {
  const auto waiting = by_key_.find(key);
  if (waiting == by_key_.end()) return nullptr;
  const auto next = waiting->second.upper_bound(after);
  return next == waiting->second.end() ? nullptr : next->second;
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
