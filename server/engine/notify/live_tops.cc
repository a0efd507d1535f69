#include "server/engine/notify/live_tops.h"

#include <algorithm>

#include "core/sorted_set/sorted_set.h"
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
  const auto at = keys_.try_emplace(key).first;
  if (at->second.channels.size() == kMostChannels) return;
  elements_ += name->count;
  at->second.channels.push_back({.channel = std::string(channel),
                                 .count = name->count,
                                 .reversed = name->reversed,
                                 .reported = ReadTop(key, name->count, name->reversed)});
}

void LiveTops::Forget(std::string_view channel) {
  if (keys_.empty()) return;
  const std::optional<TopChannel> name = ReadTopChannel(channel);
  if (!name) return;
  const auto at = keys_.find(Key(name->database, name->key));
  if (at == keys_.end()) return;
  State& state = at->second;
  const size_t removed =
      std::erase_if(state.channels, [&](const Followed& each) { return each.channel == channel; });
  elements_ -= removed * name->count;
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

void LiveTops::PublishChanges(const Key& key, State& state) {
  state.published = store_.now();
  for (Followed& each : state.channels) {
    Top top = ReadTop(key, each.count, each.reversed);
    const std::string changes = TopChanges(each.reported, top);
    if (changes.empty()) continue;
    channels_.PublishToChannel(each.channel, changes);
    each.reported = std::move(top);
  }
}

// A key that is due later than a window from now was marked before the clock was set back.
bool LiveTops::PublishNext() {
  if (due_.empty()) return false;
  const Millis now = store_.now();
  const bool was_set_back = due_.rbegin()->first > now + kWindow;
  if (due_.begin()->first > now && !was_set_back) return false;
  const auto at = keys_.find(due_.begin()->second);
  at->second.due.reset();
  due_.erase(due_.begin());
  PublishChanges(at->first, at->second);
  return true;
}

}  // namespace zsetd
