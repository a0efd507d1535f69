#include "server/engine/notify/live_tops.h"

#include <algorithm>

#include "core/sorted_set/sorted_set.h"
#include "core/util/allocation_size.h"
#include "server/engine/client/client_memory.h"
#include "server/engine/notify/channels.h"
#include "server/engine/store/store.h"

namespace zsetd {

Top LiveTops::ReadTop(const Key& key, size_t count, bool reversed) const {
  const Entry* const entry = store_.database(key.first).Find(key.second);
  const SortedSet* const set = entry == nullptr ? nullptr : entry->GetIf<SortedSet>();
  return TopOf(set, count, reversed, store_.now());
}

void LiveTops::Follow(std::string_view channel) {
  const std::optional<TopChannel> name = ReadTopChannel(channel);
  if (!name || name->database >= store_.database_count()) return;
  if (name->count > kMostElements - elements_) return;
  const Key key(name->database, name->key);
  Top top = ReadTop(key, name->count, name->reversed);
  if (BytesOf(channel, name->key, top) > kMostBytes - bytes_) return;
  State& state = keys_[key];
  if (state.channels.size() == kMostChannels) return;
  elements_ += name->count;
  Followed& followed = state.channels.emplace_back();
  followed.channel = channel;
  followed.count = name->count;
  followed.reversed = name->reversed;
  SetReported(key, followed, std::move(top));
}

// As if the key had no other channel and were due, and the vector of channels had room for twice as
// many.
size_t LiveTops::BytesOf(std::string_view channel, std::string_view key, const Top& reported) {
  constexpr size_t kNodeBytes = 4 * sizeof(void*);  // of a std::map's node, without its element
  constexpr size_t kKeyNode = AllocationSize(kNodeBytes + sizeof(std::pair<Key, State>));
  constexpr size_t kDueNode = AllocationSize(kNodeBytes + sizeof(std::pair<Millis, Key>));
  constexpr size_t kOwn = AllocationSize(2 * sizeof(Followed));
  return kKeyNode + kDueNode + kOwn + StringAllocationSize(channel.size()) +
         2 * StringAllocationSize(key.size()) + reported.AllocatedBytes();
}

size_t LiveTops::MostBytesFor(std::string_view channel) {
  const std::optional<TopChannel> name = ReadTopChannel(channel);
  if (!name) return 0;
  return BytesOf(channel, name->key, Top()) + name->count * TopElement::kMostBytes;
}

void LiveTops::SetReported(const Key& key, Followed& followed, Top top) {
  const size_t bytes = BytesOf(followed.channel, key.second, top);
  followed.reported = std::move(top);
  bytes_ += bytes - followed.bytes;
  followed.bytes = bytes;
  channels_.SetAdditionalBytes(followed.channel, bytes);
}

// Whether the channel may keep that many bytes.
bool LiveTops::MayGrow(const Followed& followed, size_t bytes) const {
  if (bytes <= followed.bytes) return true;
  const size_t growth = bytes - followed.bytes;
  if (growth > kMostBytes - bytes_) return false;
  return !store_.LacksMemory() ||
         channels_.MostKeptBytes(followed.channel) + growth <= kAlwaysKeptBytes;
}

void LiveTops::Forget(std::string_view channel) {
  if (keys_.empty()) return;
  const std::optional<TopChannel> name = ReadTopChannel(channel);
  if (!name) return;
  const auto at = keys_.find(Key(name->database, name->key));
  if (at == keys_.end()) return;
  State& state = at->second;
  std::erase_if(state.channels, [&](const Followed& each) {
    if (each.channel != channel) return false;
    elements_ -= each.count;
    bytes_ -= each.bytes;
    return true;
  });
  if (!state.channels.empty()) return;
  if (state.due) due_.erase({*state.due, at->first});
  keys_.erase(at);
}

void LiveTops::MakeDue(const Key& key, State& state) {
  if (state.due) return;
  const Millis now = store_.now();
  const bool is_recent = state.published && *state.published <= now;
  state.due = is_recent ? std::max(now, *state.published + kWindow) : now;
  due_.emplace(*state.due, key);
}

void LiveTops::Touch(int database, std::string_view key) {
  const auto at = keys_.find(Key(database, key));
  if (at != keys_.end()) MakeDue(at->first, at->second);
}

void LiveTops::TouchAll(int database) {
  for (auto at = keys_.lower_bound(Key(database, {}));
       at != keys_.end() && at->first.first == database; ++at) {
    MakeDue(at->first, at->second);
  }
}

std::optional<Millis> LiveTops::NextDue() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

// Returns false if elements of a channel exceed a limit.
bool LiveTops::PublishChanges(const Key& key, State& state) {
  bool all_fit = true;
  state.published = store_.now();
  for (Followed& each : state.channels) {
    Top top = ReadTop(key, each.count, each.reversed);
    const std::string changes = TopChanges(each.reported, top);
    if (changes.empty()) continue;
    if (!MayGrow(each, BytesOf(each.channel, key.second, top))) {
      all_fit = false;
      continue;
    }
    channels_.PublishToChannel(each.channel, changes);
    SetReported(key, each, std::move(top));
  }
  return all_fit;
}

// A key that is due later than kRetryAfter from now was marked before the clock was set back.
bool LiveTops::PublishNext() {
  if (due_.empty()) return false;
  const Millis now = store_.now();
  const bool was_set_back = due_.rbegin()->first > now + kRetryAfter;
  if (due_.begin()->first > now && !was_set_back) return false;
  const auto at = keys_.find(due_.begin()->second);
  at->second.due.reset();
  due_.erase(due_.begin());
  if (!PublishChanges(at->first, at->second)) {
    at->second.due = now + kRetryAfter;
    due_.emplace(now + kRetryAfter, at->first);
  }
  return true;
}

}  // namespace zsetd
