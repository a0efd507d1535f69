#include "server/engine/notify/tracking_prefixes.h"

#include <cassert>
#include <utility>

#include "server/engine/client/client.h"

namespace zsetd {

void TrackingPrefixes::Add(Client& client, const std::string& prefix) {
  Prefix& found = prefixes_.FindOrInsert(prefix);
  assert(std::ranges::count(found.listeners, &client) == 0);
  if (found.listeners.empty()) found.since = time_;
  found.listeners.push_back(&client);
}

void TrackingPrefixes::Remove(Client& client, const std::string& prefix) {
  Prefix* const found = prefixes_.Find(prefix);
  if (found == nullptr) return;
  std::erase(found->listeners, &client);
  if (found->listeners.empty()) prefixes_.Erase(prefix);
}

void TrackingPrefixes::Touch(std::string_view key, uint64_t by) {
  if (prefixes_.empty()) return;
  bool is_awaited = false;
  prefixes_.VisitPrefixesOf(key, [&](Prefix&) { return !(is_awaited = true); });
  if (is_awaited) changed_.insert_or_assign(std::string(key), Change{.by = by, .time = ++time_});
}

// Prefixes come up in their own order: keys are visited in theirs, and those prefixes of one that
// the key before does not begin with are greater than all that it begins with.
void TrackingPrefixes::Broadcast(const Send& tell) {
  const Changes changed = std::exchange(changed_, {});
  std::vector<Prefix*> due;
  for (const auto& change : changed) {
    prefixes_.VisitPrefixesOf(change.first, [&](Prefix& prefix) {
      if (change.second.time <= prefix.since) return true;
      if (prefix.due.empty()) due.push_back(&prefix);
      prefix.due.push_back(&change);
      return true;
    });
  }
  for (Prefix* const prefix : due) {
    SendToListeners(*prefix, tell);
    prefix->due = {};
  }
}

void TrackingPrefixes::SendToListeners(const Prefix& prefix, const Send& tell) {
  for (Client* const client : prefix.listeners) {
    std::vector<std::string_view> keys;
    for (const auto* const change : prefix.due) {
      const auto& [key, what] = *change;
      if (!client->tracking().no_loop || what.by != client->id) keys.push_back(key);
    }
    if (!keys.empty()) tell(*client, keys);
  }
}

size_t TrackingPrefixes::BytesFor(size_t prefix_size) {
  constexpr size_t kBytesInSet = sizeof(std::string) + 40;  // with its node
  return kBytesInSet + prefix_size + decltype(prefixes_)::BytesFor(prefix_size) +
         2 * sizeof(Client*);
}

}  // namespace zsetd
