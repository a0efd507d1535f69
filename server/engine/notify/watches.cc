#include "server/engine/notify/watches.h"

#include <algorithm>

#include "server/engine/client/client.h"
#include "server/engine/store/database.h"

namespace zsetd {

void Watches::Add(Client& client, int database, std::string_view key) {
  Key watched(database, key);
  std::vector<Client*>& watchers = watchers_[watched];
  if (std::ranges::find(watchers, &client) != watchers.end()) return;
  watchers.push_back(&client);
  client.transaction.bytes += key.size();
  client.transaction.watched.push_back(std::move(watched));
}

void Watches::RemoveAll(Client& client) {
  for (const Key& key : client.transaction.watched) {
    const auto found = watchers_.find(key);
    std::erase(found->second, &client);
    if (found->second.empty()) watchers_.erase(found);
  }
  client.transaction.watched.clear();
  client.transaction.touched = false;
}

void Watches::Touch(int database, std::string_view key) {
  if (watchers_.empty()) return;
  const auto found = watchers_.find(Key(database, key));
  if (found == watchers_.end()) return;
  for (Client* client : found->second) client->transaction.touched = true;
}

std::vector<std::string> Watches::KeysOf(int database) const {
  std::vector<std::string> keys;
  for (const auto& [key, clients] : watchers_) {
    if (key.first == database) keys.push_back(key.second);
  }
  return keys;
}

void Watches::TouchAll(int database, const Database& before, const Database* after) {
  for (auto& [key, clients] : watchers_) {
    if (key.first != database) continue;
    const bool there = before.Find(key.second) != nullptr ||
                       (after != nullptr && after->Find(key.second) != nullptr);
    if (!there) continue;
    for (Client* client : clients) client->transaction.touched = true;
  }
}

}  // namespace zsetd
