#include "server/engine/database.h"

#include <utility>

namespace zsetd {

Database::Database(int index, uint64_t hash_seed, Listener listener, Discarder discarder)
    : index_(index),
      keys_(hash_seed),
      listener_(std::move(listener)),
      discarder_(std::move(discarder)) {}

void Database::AdvanceTo(Millis now) {
  now_ = now;
  keys_.AdvanceTo(now);
}

Entry& Database::Put(std::string_view key, Value value, std::string_view event) {
  ReclaimIfDue(key);
  Entry& entry = Place(key, std::move(value));
  Report(key, event);
  return entry;
}

Entry& Database::PutKeepingDeadline(std::string_view key, Value value, std::string_view event) {
  Entry* entry = Open(key);
  if (entry == nullptr) return Put(key, std::move(value), event);
  std::unique_ptr<Entry> displaced;
  Entry& assigned = keys_.Assign(*entry, std::move(value), displaced);
  Free(std::move(displaced));
  Report(key, event);
  return assigned;
}

bool Database::Erase(std::string_view key, std::string_view event) {
  Entry* entry = Open(key);
  if (entry == nullptr) return false;
  EraseEntry(*entry, event);
  return true;
}

void Database::ExpireAt(std::string_view key, Millis deadline) {
  SetDeadline(*keys_.Find(key), deadline);
}

bool Database::Persist(std::string_view key) {
  Entry* entry = Open(key);
  if (entry == nullptr || !entry->deadline()) return false;
  keys_.SetDeadline(*entry, std::nullopt);
  Report(key, "persist");
  return true;
}

void Database::Move(std::string_view key, Database& destination, std::string_view target,
                    std::string_view event_from, std::string_view event_to) {
  Entry* entry = keys_.Find(key);
  const std::optional<Millis> deadline = entry->deadline();
  const std::unique_ptr<Entry> gone = keys_.Extract(*entry);
  Report(gone->key(), event_from);
  destination.Receive(target, std::move(gone->value), deadline, event_to);
}

void Database::Copy(std::string_view key, Database& destination, std::string_view target,
                    std::string_view event) {
  const Entry& entry = *keys_.Find(key);
  destination.Receive(target, Clone(entry.value), entry.deadline(), event);
}

void Database::Receive(std::string_view key, Value value, std::optional<Millis> deadline,
                       std::string_view event) {
  ReclaimIfDue(key);
  keys_.SetDeadline(Place(key, std::move(value)), deadline);
  Report(key, event);
}

size_t Database::ReclaimDue(size_t most) {
  size_t reclaimed = 0;
  for (; reclaimed < most; ++reclaimed) {
    Entry* entry = keys_.FirstDue();
    if (entry == nullptr) break;
    EraseEntry(*entry, "expired");
  }
  return reclaimed;
}

void Database::Clear() {
  auto gone = std::make_shared<Keyspace>(std::move(keys_));
  if (gone->size() > 0) Discard(std::move(gone));
}

void Database::Discard(std::shared_ptr<void> garbage) {
  if (discarder_ && garbage != nullptr) discarder_(std::move(garbage));
}

void Database::SwapKeysWith(Database& other) { std::swap(keys_, other.keys_); }

Entry* Database::Open(std::string_view key) {
  ReclaimIfDue(key);
  return keys_.Find(key);
}

Entry& Database::Make(std::string_view key, Value empty) {
  return keys_.Put(key, std::move(empty));
}

void Database::Settle(Entry& entry, uint32_t revision_before, std::string_view event,
                      std::optional<Millis> deadline) {
  const bool changed = Revision(entry.value) != revision_before;
  if (changed) Report(entry.key(), event);
  if (IsEmptyAggregate(entry.value)) {
    if (changed) return EraseEntry(entry, "del");
    keys_.Extract(entry);  // made for this edit, and nothing came of it
    return;
  }
  if (deadline) SetDeadline(entry, *deadline);
}

void Database::Report(std::string_view key, std::string_view event) {
  listener_(Change{index_, key, event});
}

void Database::SetDeadline(Entry& entry, Millis deadline) {
  if (deadline <= now_) return EraseEntry(entry, "del");
  keys_.SetDeadline(entry, deadline);
  Report(entry.key(), "expire");
}

void Database::EraseEntry(Entry& entry, std::string_view event) {
  std::unique_ptr<Entry> gone = keys_.Extract(entry);
  Report(gone->key(), event);
  Free(std::move(gone));
}

void Database::ReclaimIfDue(std::string_view key) {
  if (Entry* due = keys_.FindDue(key)) EraseEntry(*due, "expired");
}

Entry& Database::Place(std::string_view key, Value value) {
  std::unique_ptr<Entry> displaced;
  Entry& entry = keys_.Put(key, std::move(value), displaced);
  Free(std::move(displaced));
  return entry;
}

// Light entries are freed here: handing them over would take longer.
void Database::Free(std::unique_ptr<Entry> entry) {
  if (entry != nullptr && IsHeavy(entry->value)) Discard(std::move(entry));
}

}  // namespace zsetd
