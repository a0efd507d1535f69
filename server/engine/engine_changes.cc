// The consequences of changes of keys, and changes of whole databases.

#include <memory>
#include <string>
#include <utility>

#include "server/engine/engine.h"
#include "server/engine/notify/keyspace_notifications.h"

namespace zsetd {
namespace {

constexpr size_t kReclaimsPerLook = 32;  // freed between two looks at the stopwatch
constexpr size_t kTrimmedPerLook = 32;   // the same, of tracked keys

}  // namespace

void Engine::ReclaimDue(Micros until) {
  if (!expires_unasked_) return;
  for (const auto& database : databases_) {
    while (database->ReclaimDue(kReclaimsPerLook) == kReclaimsPerLook) {
      if (host_.stopwatch() <= until) continue;
      ++metrics_.stats().expiries_cut_short;
      return;
    }
  }
}

// Brings the tracking table below a limit that was lowered without waiting for the next read, a
// slice at a time, so that removing millions of keys delays no client.
void Engine::TrimTrackedKeys(Micros until) {
  while (!tracking_.Trim(MostTrackedKeys(), kTrimmedPerLook, rng_)) {
    if (host_.stopwatch() > until) return;
  }
}

void Engine::Drop(int index) {
  watches_.TouchAll(index, *databases_[index], nullptr);
  copies_.TouchAll(index);
  if (HoldsReplies()) recent_changes_.RecordAll(persistence_->WrittenPosition() + 1);
  change_count_ += databases_[index]->keys().size();
  databases_[index]->Clear();
}

void Engine::Clear(int index) {
  Drop(index);
  FreeLater(tracking_.TouchAll());
}

void Engine::ClearAll() {
  for (int index = 0; index < database_count(); ++index) Drop(index);
  FreeLater(tracking_.TouchAll());
}

void Engine::FreeLater(std::shared_ptr<void> garbage, size_t bytes, size_t objects) {
  if (!host_.free_in_background || garbage == nullptr) return;
  gauge_.HandOver(std::move(garbage), bytes, objects, host_.free_in_background);
}

// Deletes watched keys that are expired: they do not exist any more, and deleting them later must
// not count as a change for clients that watch a key of that name.
void Engine::ReclaimWatched(int index, Database& database) {
  for (const std::string& key : watches_.KeysOf(index)) database.Open(key);
}

void Engine::SwapDatabases(int a, int b) {
  ++change_count_;
  if (a == b) return;
  if (HoldsReplies()) recent_changes_.RecordAll(persistence_->WrittenPosition() + 1);
  ReclaimWatched(a, *databases_[b]);
  ReclaimWatched(b, *databases_[a]);
  watches_.TouchAll(a, *databases_[a], databases_[b].get());
  watches_.TouchAll(b, *databases_[b], databases_[a].get());
  databases_[a]->SwapKeysWith(*databases_[b]);
  copies_.TouchAll(a);
  copies_.TouchAll(b);
  blocked_clients_.TouchAll(a);
  blocked_clients_.TouchAll(b);
  FreeLater(tracking_.TouchAll());
}

// A key that ends by itself is gone before whatever the running command says of it. Outside of a
// command it is a unit.
void Engine::PropagateEnd(const Change& change) {
  if (!effects_.IsOn()) return;
  effects_.Add(change.database, {"DEL", change.key});
  if (active_ == nullptr) effects_.Commit();
}

// The messages that an eviction causes are measured apart: they must not cause further evictions.
void Engine::OnChange(const Change& change) {
  change_count_ += change.count;
  if (HoldsReplies()) [[unlikely]]
    recent_changes_.Record(change.database, change.key, persistence_->WrittenPosition() + 1);
  if (change.event == "expired") {
    ++metrics_.stats().expired_keys;
    PropagateEnd(change);
  }
  if (change.event != "evicted") return Publish(change);
  PropagateEnd(change);
  ++metrics_.stats().evicted_keys;
  const auto before = static_cast<int64_t>(gauge_.Used());
  Publish(change);
  announcement_bytes_ = static_cast<int64_t>(gauge_.Used()) - before;
}

// Everything that follows from a change, in one place.
void Engine::Publish(const Change& change) {
  const KeyspaceEventFlags& flags = settings_.notify_keyspace_events;
  if (flags.Any() && !change.event.empty()) {
    if (change.is_new) PublishKeyEvent(flags, {change.database, change.key, "new"}, channels_);
    PublishKeyEvent(flags, change, channels_);
  }
  tracking_.Touch(change.key, active_);
  watches_.Touch(change.database, change.key);
  copies_.Touch(change.database, change.key);
  blocked_clients_.Touch(change.database, change.key);
}

void Engine::OnMiss(int database, std::string_view key) {
  const KeyspaceEventFlags& flags = settings_.notify_keyspace_events;
  if (flags.Any()) PublishKeyEvent(flags, {database, key, "keymiss"}, channels_);
}

}  // namespace zsetd
