#include "server/engine/store/dataset_snapshot.h"

#include <cassert>
#include <utility>

#include "server/engine/store/database.h"

namespace zsetd {

KeyspaceSnapshot::KeyspaceSnapshot(Database& database, SnapshotReceiver& receiver)
    : database_(&database),
      receiver_(receiver),
      database_index_(database.index()),
      keys_at_start_(database.keys().size()),
      with_deadline_at_start_(database.keys().with_deadline()),
      frees_(&database) {
  database.set_keyspace_snapshot(this);
}

KeyspaceSnapshot::~KeyspaceSnapshot() { Finish(); }

void KeyspaceSnapshot::Finish() {
  done_ = true;
  if (database_ != nullptr) database_->set_keyspace_snapshot(nullptr);
  database_ = nullptr;
  if (kept_ != nullptr) frees_->FreeLater(std::exchange(kept_, nullptr));
}

// The time of a dropped keyspace does not matter: due entries are handed out, too.
void KeyspaceSnapshot::Step() {
  assert(!done_);
  const Keyspace& keys = kept_ != nullptr ? *kept_ : database_->keys();
  const uint64_t next = keys.ScanEvenDue(cursor_, [&](const Entry& entry) {
    // A bucket that two have merged into begins left of the cursor.
    if (HasPassed(entry.key()) || captured_.Contains(entry.key())) return;
    receiver_.Receive(database_index_, entry);
  });
  cursor_ = next;
  started_ = true;
  if (next == 0) Finish();
}

bool KeyspaceSnapshot::HasPassed(std::string_view key) const {
  assert(!done_ || !started_);  // a snapshot that has ended is attached to no database
  if (!started_) return false;
  const Keyspace& keys = kept_ != nullptr ? *kept_ : database_->keys();
  return keys.HasPassed(cursor_, key);
}

void KeyspaceSnapshot::BeforeChange(const Entry& entry) {
  if (HasPassed(entry.key()) || !captured_.Add(entry.key())) return;
  receiver_.Receive(database_index_, entry);
}

void KeyspaceSnapshot::BeforeInsert(std::string_view key) {
  if (!HasPassed(key)) captured_.Add(key);
}

void KeyspaceSnapshot::MoveTo(Database& database) {
  assert(kept_ == nullptr);
  database_ = &database;
  database.set_keyspace_snapshot(this);
}

void KeyspaceSnapshot::Keep(std::shared_ptr<Keyspace> dropped) {
  assert(kept_ == nullptr && dropped != nullptr);
  kept_ = std::move(dropped);
  database_->set_keyspace_snapshot(nullptr);
  database_ = nullptr;
}

DatasetSnapshot::DatasetSnapshot(Databases databases, SnapshotReceiver& receiver)
    : databases_(databases), receiver_(receiver) {
  for (const auto& database : databases) {
    database->set_snapshot(this);
    if (database->keys().size() == 0) {
      continue;  // whatever comes into it is not part of the snapshot
    }
    keys_ += database->keys().size();
    has_field_deadlines_ |= database->keys().hashes_with_deadlines() > 0;
    keyspaces_.push_back(std::make_unique<KeyspaceSnapshot>(*database, receiver));
  }
}

DatasetSnapshot::~DatasetSnapshot() {
  receiver_.Abandon();
  FreeKept();
  keyspaces_.clear();
  for (const auto& database : databases_) database->set_snapshot(nullptr);
}

bool DatasetSnapshot::Continue(const std::function<bool()>& enough) {
  for (;;) {
    while (receiver_.HasOpen()) {
      receiver_.ContinueOpen();
      if (enough()) return false;
    }
    FreeKept();
    while (next_ < keyspaces_.size() && keyspaces_[next_]->done()) ++next_;
    if (next_ == keyspaces_.size()) return true;
    keyspaces_[next_]->Step();
    if (enough()) return false;
  }
}

bool DatasetSnapshot::Keep(std::unique_ptr<Entry>& entry) {
  if (!receiver_.IsOpen(*entry)) return false;
  const size_t bytes = entry->BytesUsed();
  kept_.push_back({.object = std::move(entry), .bytes = bytes});
  return true;
}

bool DatasetSnapshot::Keep(std::shared_ptr<void>& garbage, size_t bytes, size_t objects) {
  if (!receiver_.HasOpen()) return false;
  kept_.push_back({.object = std::move(garbage), .bytes = bytes, .objects = objects});
  return true;
}

void DatasetSnapshot::FreeKept() {
  assert(kept_.empty() || !receiver_.HasOpen());
  for (Garbage& garbage : kept_) {
    databases_[0]->FreeNow(std::move(garbage.object), garbage.bytes, garbage.objects);
  }
  kept_.clear();
}

}  // namespace zsetd
