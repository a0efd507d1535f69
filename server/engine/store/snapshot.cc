#include "server/engine/store/snapshot.h"

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
  database.set_snapshot(this);
}

KeyspaceSnapshot::~KeyspaceSnapshot() { Finish(); }

void KeyspaceSnapshot::Finish() {
  done_ = true;
  if (database_ != nullptr) database_->set_snapshot(nullptr);
  database_ = nullptr;
  if (kept_ != nullptr) frees_->FreeLater(std::exchange(kept_, nullptr));
}

// The present of a dropped keyspace does not matter: what is due is handed out, too.
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
  database.set_snapshot(this);
}

void KeyspaceSnapshot::Keep(std::shared_ptr<Keyspace> dropped) {
  kept_ = std::move(dropped);
  database_->set_snapshot(nullptr);
  database_ = nullptr;
}

Snapshot::Snapshot(Databases databases, SnapshotReceiver& receiver) {
  for (const auto& database : databases) {
    if (database->keys().size() == 0) {
      continue;  // whatever comes into it is not part of the snapshot
    }
    keys_ += database->keys().size();
    keyspaces_.push_back(std::make_unique<KeyspaceSnapshot>(*database, receiver));
  }
}

bool Snapshot::Continue(const std::function<bool()>& enough) {
  constexpr int kStepsPerLook = 8;
  int steps = 0;
  for (; next_ < keyspaces_.size(); ++next_) {
    while (!keyspaces_[next_]->done()) {
      keyspaces_[next_]->Step();
      if (++steps % kStepsPerLook == 0 && enough()) return false;
    }
  }
  return true;
}

}  // namespace zsetd
