// A snapshot holds the databases as they were at one instant, without a copy of the process or a
// version at each entry. It hands the entries out one after the other while the databases go on
// changing:
//
//     hashes, read backwards   |  passed  |cursor      still to come           |
//                              └ handed out           └ an entry is handed out before its first
//                                                       change, and its key noted as captured
//
// The cursor is that of a scan of the dictionary (core/hashing/linear_hashing.h): entries left of
// it were passed, whatever buckets split or merge. So one comparison of hashes shows whether an
// entry was handed out already, and no entry keeps a mark. The names of keys right of the cursor
// that are created, changed or deleted are recorded, so that they are not handed out again when the
// cursor reaches them.
//
// During the snapshot, a change costs one hash and, the first time, handing out the whole entry.
// For a large value, only the pieces that the change affects are copied; its receiver takes the
// rest step by step (server/engine/store/rdb_value_slices.h). Dropped data is not handed out
// immediately: the snapshot keeps a keyspace (FLUSHDB) until it has passed it, and a large value
// until the receiver has finished it.
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
#include "core/string/byte_string.h"
#include "core/util/time.h"

namespace zsetd {

class Database;

// Receives the entries of a snapshot, each once.
class SnapshotReceiver {
 public:
  virtual ~SnapshotReceiver() = default;

  // The entry is as it was at the instant of the snapshot, and is so during this call. A large
  // value may be left open: its contents are taken later, as they are now.
  virtual void Receive(int database, const Entry& entry) = 0;

  // Whether values are open. Takes a little of one of them.
  virtual bool HasOpen() const = 0;
  virtual void ContinueOpen() = 0;

  // Whether the entry's value is one of them, whatever key it had when it was received.
  virtual bool IsOpen(const Entry& entry) const = 0;

  // These bytes of the entry's value, a string, are about to be changed in place.
  virtual void BeforeEdit(const Entry& entry, std::span<const ByteRange> ranges) = 0;

  // The value, whose identity was `before`, has been changed in place: it may have another now.
  virtual void AfterEdit(const void* before, const Entry& entry) = 0;

  // Gives up the values that are open. Afterwards they may be destroyed.
  virtual void Abandon() = 0;
};

// One keyspace of a snapshot.
class KeyspaceSnapshot {
 public:
  // Attaches itself to the database, which calls the functions below.
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
  Database* frees_;  // frees the kept objects
  uint64_t cursor_ = 0;
  bool started_ = false;
  bool done_ = false;
  Set captured_;
};

// All keyspaces.
class DatasetSnapshot {
 public:
  using Databases = std::span<const std::unique_ptr<Database>>;

  // The instant is now: between two commands. There is no other snapshot of these databases.
  // O(databases).
  DatasetSnapshot(Databases databases, SnapshotReceiver& receiver);
  DatasetSnapshot(const DatasetSnapshot&) = delete;
  ~DatasetSnapshot();

  // Hands out entries until all were, or until `enough` returns true, which is asked after each
  // bucket of keys and each step of an open value. Returns whether all were and none is open.
  bool Continue(const std::function<bool()>& enough);

  // --- For databases. ---

  // A string is about to be changed in place, or has been: see SnapshotReceiver.
  void BeforeEdit(const Entry& entry, std::span<const ByteRange> ranges) {
    if (receiver_.HasOpen()) receiver_.BeforeEdit(entry, ranges);
  }
  void AfterEdit(const void* before, const Entry& entry) {
    if (receiver_.HasOpen()) receiver_.AfterEdit(before, entry);
  }

  // The entry has left its database. False if it may be freed; else it is kept, and null.
  bool Keep(std::unique_ptr<Entry>& entry);

  // Like the function above, for an object that may be part of a value, or hold values.
  bool Keep(std::shared_ptr<void>& garbage, size_t bytes, size_t objects);

  // The keyspaces with keys in them at the instant of the snapshot, by database.
  const std::vector<std::unique_ptr<KeyspaceSnapshot>>& keyspaces() const { return keyspaces_; }
  size_t keys() const { return keys_; }

  // Whether fields of hashes had deadlines then.
  bool has_field_deadlines() const { return has_field_deadlines_; }

 private:
  struct Garbage {
    std::shared_ptr<void> object;
    size_t bytes = 0;
    size_t objects = 1;
  };

  void FreeKept();

  const Databases databases_;
  SnapshotReceiver& receiver_;
  bool has_field_deadlines_ = false;
  std::vector<std::unique_ptr<KeyspaceSnapshot>> keyspaces_;
  std::vector<Garbage> kept_;  // while values are open
  size_t next_ = 0;
  size_t keys_ = 0;
};

}  // namespace zsetd
