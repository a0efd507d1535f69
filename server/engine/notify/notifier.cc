#include "server/engine/notify/notifier.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "server/engine/client/client.h"
#include "server/engine/command/request_keys.h"
#include "server/engine/notify/keyspace_notifications.h"
#include "server/engine/notify/monitors.h"
#include "server/engine/propagation/effects.h"
#include "server/engine/propagation/unit.h"

namespace zsetd {

Notifier::Notifier(const Settings& settings, const Host& host, Effects& effects, Store& store,
                   const std::map<uint64_t, Client*>& clients, uint64_t hash_seed)
    : settings_(settings),
      host_(host),
      effects_(effects),
      store_(store),
      channels_([this](std::string_view channel) { live_tops_.Forget(channel); }),
      live_tops_(store, channels_),
      monitors_(std::make_unique<Monitors>()),
      tracking_(hash_seed, clients) {}

Notifier::~Notifier() = default;

// The deletion of an expired or evicted key precedes the effects of the running command. Outside of
// a unit it is a unit of its own. Keys are evicted before the command's unit begins.
void Notifier::PropagateEnd(const Change& change) {
  assert(effects_.IsOn());
  const Unit unit(effects_);
  effects_.Add(change.database, {"DEL", change.key});
}

// Like the function above, for expired elements, several in each request.
void Notifier::PropagateEnd(const Change& change, std::span<const std::string> elements) {
  const Unit unit(effects_);
  while (!elements.empty()) {
    const size_t count = std::min(elements.size(), Effects::kMostItems);
    effects_.Begin(change.database, 2 + count);
    effects_.AddWord(change.event == KeyEvent::kHExpired ? "HDEL" : "ZREM");
    effects_.AddWord(change.key);
    for (const std::string& element : elements.first(count)) effects_.AddWord(element);
    elements = elements.subspan(count);
  }
}

// A key that is evicted or expires is no client's change: the client whose command ends it has not
// asked for that, and is notified too.
void Notifier::OnChange(const Change& change) {
  const bool is_deleted = change.event == KeyEvent::kEvicted || change.event == KeyEvent::kExpired;
  const bool ends_by_itself = is_deleted || !change.expired_elements.empty();
  if (effects_.IsOn() && is_deleted) PropagateEnd(change);
  if (effects_.IsOn() && !change.expired_elements.empty()) {
    PropagateEnd(change, change.expired_elements);
  }
  const KeyspaceEventFlags& flags = settings_.notify_keyspace_events;
  if (flags.Any() && change.event != KeyEvent::kNone) {
    if (change.is_new)
      PublishKeyEvent(flags, {change.database, change.key, KeyEvent::kNew}, channels_);
    PublishKeyEvent(flags, change, channels_);
  }
  if (change.is_content) {
    if (FollowsTops()) [[unlikely]]
      live_tops_.Touch(change.database, change.key);
    if (tracking_.IsOn()) tracking_.Touch(change.key, ends_by_itself ? nullptr : active_);
    watches_.Touch(change.database, change.key);
  }
  blocked_clients_.Touch(change.database, change.key);
}

bool Notifier::WantsSubkeys(KeyEvent event) const {
  if (event == KeyEvent::kNone) return false;
  return channels_.HasListeners() && PublishesSubkeys(settings_.notify_keyspace_events, event);
}

void Notifier::OnMiss(int database, std::string_view key) {
  const KeyspaceEventFlags& flags = settings_.notify_keyspace_events;
  if (flags.Any()) PublishKeyEvent(flags, {database, key, KeyEvent::kKeyMiss}, channels_);
}

void Notifier::BeforeClear(std::span<const std::unique_ptr<Database>> databases) {
  for (const auto& database : databases) {
    watches_.TouchAll(database->index(), *database, nullptr);
    if (blocked_clients_.HasWaitEndingWithoutKey()) blocked_clients_.TouchAll(database->index());
    if (FollowsTops()) live_tops_.TouchAll(database->index());
  }
  store_.FreeLater(tracking_.TouchAll());
}

// Deletes watched keys that are expired: they do not exist any more, and deleting them later must
// not count as a change for clients that watch a key of that name.
void Notifier::DeleteExpiredWatched(int index, Database& database) {
  for (const std::string& key : watches_.KeysOf(index)) database.Open(key);
}

void Notifier::BeforeSwap(Database& a, Database& b) {
  DeleteExpiredWatched(a.index(), b);
  DeleteExpiredWatched(b.index(), a);
  watches_.TouchAll(a.index(), a, &b);
  watches_.TouchAll(b.index(), b, &a);
  blocked_clients_.TouchAll(a.index());
  blocked_clients_.TouchAll(b.index());
  if (FollowsTops()) {
    live_tops_.TouchAll(a.index());
    live_tops_.TouchAll(b.index());
  }
  const bool has_keys = a.keys().size() + b.keys().size() > 0;
  if (has_keys) store_.FreeLater(tracking_.TouchAll());
}

void Notifier::RememberReads(Client& client, const Command& command, Args argv) {
  if (!client.tracking().RemembersReads()) return;
  for (const size_t position : FindKeys(command, argv)) {
    tracking_.Remember(client, argv[position], MostTrackedKeys(), store_.rng());
  }
}

void Notifier::TrimTrackedKeys(Micros budget) {
  constexpr size_t kTrimmedPerLook = 32;  // between two readings of the stopwatch
  if (!HasTooManyTrackedKeys()) return;
  const Micros until = host_.stopwatch() + budget;
  while (!tracking_.Trim(MostTrackedKeys(), kTrimmedPerLook, store_.rng())) {
    if (host_.stopwatch() > until) return;
  }
}

void Notifier::StartMonitoring(Client& client) {
  monitors_->Add(client);
  has_monitors_ = true;
}

void Notifier::SendToEachMonitor(const Caller& caller, const Command& command, Args argv) const {
  assert(monitors_->Any());
  monitors_->Send(caller, command, argv, host_.wall_clock());
}

void Notifier::EndTransaction(Client& client) {
  watches_.RemoveAll(client);
  client.transaction = Transaction();
}

bool Notifier::Subscribe(Client& client, ChannelKind kind, std::string_view name) {
  const bool is_first = kind == ChannelKind::kChannel && channels_.ListenerCount(kind, name) == 0;
  if (!channels_.Subscribe(client, kind, name)) return false;
  if (is_first) live_tops_.Follow(name);
  return true;
}

void Notifier::PublishTops(Micros budget) {
  const Micros until = host_.stopwatch() + budget;
  while (live_tops_.PublishNext()) {
    if (host_.stopwatch() > until) return;
  }
}

void Notifier::Unsubscribe(Client& client) {
  StopTracking(client);
  monitors_->Remove(client);
  has_monitors_ = monitors_->Any();
  channels_.RemoveAll(client);
}

void Notifier::Forget(Client& client) {
  watches_.RemoveAll(client);
  blocked_clients_.Remove(client);
  Unsubscribe(client);
}

}  // namespace zsetd
