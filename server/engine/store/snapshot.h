// A snapshot holds the databases as they were at one instant, without a copy of the process or a
// version at each entry. It hands the entries out one after the other while the databases go on
// changing:
//
//     hashes, read backwards   |  passed  |cursor      still to come           |
//                              └ handed out           └ an entry is handed out before its first
//                                                       change, and its key noted as captured
//
// The cursor is that of a scan of the dictionary (core/hashing/linear_hashing.h), and what lies
// left of it has been passed whatever buckets split or merge. So one comparison of hashes says
// whether an entry was handed out already, and no entry keeps a mark. Keys right of the cursor that
// are created, changed or deleted are noted by name, for they are not to be handed out again when
// the cursor comes there.
//
// What a change costs meanwhile is one hash and, the first time, serializing the whole entry. A
// keyspace that is dropped as a whole (FLUSHDB) is not serialized: the snapshot keeps it until it
// has passed it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/keyspace/keyspace.h"
#include "core/set/set.h"
#include "core/util/time.h"

namespace zsetd {

class Database;

// Receives the entries of a snapshot, each once.
class SnapshotReceiver {
 public:
  virtual ~SnapshotReceiver() = default;

  // The entry is as it was at the instant of the snapshot, and is so during this call.
  virtual void Receive(int database, const Entry& entry) = 0;
};

// One keyspace of a snapshot.
class KeyspaceSnapshot {
 public:
  // Attaches itself to the database, which calls what is below.
  KeyspaceSnapshot(Database& database, SnapshotReceiver& receiver);
  KeyspaceSnapshot(const KeyspaceSnapshot&) = delete;
  ~KeyspaceSnapshot();

  int database() const { return database_index_; }  // at the instant of the snapshot
  size_t keys() const { return keys_at_start_; }
  size_t keys_with_deadline() const { return with_deadline_at_start_; }

  // Hands out the entries at the cursor and moves it. O(1) and the entries.
  void Step();
  bool done() const { return done_; }

  // The entry is about to change, or to be deleted.
  void BeforeChange(const Entry& entry);

  // A key that does not exist is about to be created.
  void BeforeInsert(std::string_view key);

  // The keyspace is that of another database from now on (SWAPDB).
  void MoveTo(Database& database);

  // The keyspace is dropped from its database. It is kept until it is passed.
  void Keep(std::shared_ptr<Keyspace> dropped);

 private:
  bool HasPassed(std::string_view key) const;
  void Finish();

  Database* database_;  // the one that has the keyspace now; null once it was dropped
  SnapshotReceiver& receiver_;
  const int database_index_;
  const size_t keys_at_start_;
  const size_t with_deadline_at_start_;
  std::shared_ptr<Keyspace> kept_;
  Database* frees_;  // has what was kept freed
  uint64_t cursor_ = 0;
  bool started_ = false;
  bool done_ = false;
  Set captured_;
};

// All keyspaces.
class Snapshot {
 public:
  using Databases = std::span<const std::unique_ptr<Database>>;

  // The instant is now: between two commands. There is no other snapshot of these databases.
  // O(databases).
  Snapshot(Databases databases, SnapshotReceiver& receiver);

  // Hands out entries until all were, or until `enough` returns true, which is asked after each
  // few. Returns whether all were. An entry is handed out as a whole.
  bool Continue(const std::function<bool()>& enough);

  // The keyspaces with keys in them at the instant of the snapshot, by database.
  const std::vector<std::unique_ptr<KeyspaceSnapshot>>& keyspaces() const { return keyspaces_; }
  size_t keys() const { return keys_; }

 private:
  std::vector<std::unique_ptr<KeyspaceSnapshot>> keyspaces_;
  size_t next_ = 0;
  size_t keys_ = 0;
};

}  // namespace zsetd
