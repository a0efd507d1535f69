#include "server/engine/notify/watches.h"

#include <algorithm>
#include <cassert>

#include "core/util/allocation_size.h"
#include "server/engine/client/client.h"
#include "server/engine/store/database.h"

namespace zsetd {

// The slots of the table are at worst 7/16 full, when it has just grown: abseil's are doubled at
// 7/8.
size_t Watches::BytesPerKey(size_t name_bytes) {
  constexpr size_t kNode = AllocationSize(sizeof(std::pair<WatchedKey, Watchers>));
  constexpr size_t kSlot = (sizeof(void*) + 1) * 16 / 7 + 1;
  constexpr size_t kWatcher = AllocationSize(sizeof(Client*));
  return kNode + kSlot + kWatcher + StringAllocationSize(name_bytes);
}

void Watches::Add(Client& client, int database, std::string_view key) {
  auto found = watchers_.find(KeyView(database, key));
  if (found == watchers_.end()) {
    found = watchers_.try_emplace(WatchedKey{database, std::string(key)}).first;
  }
  Watchers& watchers = found->second;
  if (std::ranges::find(watchers, &client) != watchers.end()) return;
  watchers.push_back(&client);
  client.transaction.watch_bytes_ += BytesPerKey(key.size());
  client.transaction.watched_.push_back(&found->first);
}

void Watches::RemoveAll(Client& client) {
  for (const WatchedKey* key : client.transaction.watched()) {
    const auto found = watchers_.find(*key);
    assert(found != watchers_.end());
    std::erase(found->second, &client);
    if (found->second.empty()) watchers_.erase(found);
  }
  client.transaction.watched_ = {};
  client.transaction.watch_bytes_ = 0;
  client.transaction.touched = false;
}

void Watches::Touch(int database, std::string_view key) {
  if (watchers_.empty()) return;
  const auto found = watchers_.find(KeyView(database, key));
  if (found == watchers_.end()) return;
  for (Client* client : found->second) client->transaction.touched = true;
}

std::vector<std::string> Watches::KeysOf(int database) const {
  std::vector<std::string> keys;
  for (const auto& [key, clients] : watchers_) {
    if (key.database == database) keys.push_back(key.name);
  }
  return keys;
}

void Watches::TouchAll(int database, const Database& before, const Database* after) {
  for (auto& [key, clients] : watchers_) {
    if (key.database != database) continue;
    const bool there =
        before.Find(key.name) != nullptr || (after != nullptr && after->Find(key.name) != nullptr);
    if (!there) continue;
    for (Client* client : clients) client->transaction.touched = true;
  }
}

}  // namespace zsetd
