#include "server/engine/notify/tracking_prefixes.h"

#include <algorithm>
#include <utility>

#include "server/engine/client/client.h"

namespace zsetd {

void TrackingPrefixes::Add(Client& client, const std::string& prefix) {
  prefixes_[prefix].listeners.push_back(&client);
  longest_ = std::max(longest_, prefix.size());
}

void TrackingPrefixes::Remove(Client& client, const std::string& prefix) {
  const auto found = prefixes_.find(prefix);
  if (found == prefixes_.end()) return;
  std::erase(found->second.listeners, &client);
  if (found->second.listeners.empty()) prefixes_.erase(found);
  if (prefixes_.empty()) longest_ = 0;
}

void TrackingPrefixes::Touch(std::string_view key, uint64_t by) {
  if (prefixes_.empty()) return;
  for (size_t length = 0; length <= std::min(key.size(), longest_); ++length) {
    const auto found = prefixes_.find(key.substr(0, length));
    if (found == prefixes_.end()) continue;
    found->second.changed.insert_or_assign(std::string(key), by);
    has_news_ = true;
  }
}

void TrackingPrefixes::Broadcast(const Tell& tell) {
  has_news_ = false;
  for (auto& [name, prefix] : prefixes_) {
    const std::map<std::string, uint64_t> changed = std::exchange(prefix.changed, {});
    if (changed.empty()) continue;
    for (Client* client : prefix.listeners) {
      std::vector<std::string_view> keys;
      for (const auto& [key, by] : changed) {
        if (!client->tracking.no_loop || by != client->id) keys.push_back(key);
      }
      if (!keys.empty()) tell(*client, keys);
    }
  }
}

}  // namespace zsetd
