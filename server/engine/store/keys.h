#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/util/rng.h"
#include "core/util/time.h"
#include "server/engine/store/database.h"
#include "server/engine/store/edit.h"

namespace zsetd {

class AccessTracker;
class RdbReader;
class Store;
class ValueCopies;
struct HashLimits;
struct ListLimits;
struct SetLimits;
struct SharedRead;
struct SortedSetLimits;
struct ValueLimits;
enum class RdbType : uint8_t;

// A command's only access to data: the keys of one database, and functions on them.
//
// A key that is past its deadline is never found. Entries are valid until their key changes. It
// lives for one request and costs three pointers.
class Keys {
 public:
  // The access rights of the request, which decide about the side effects of a lookup.
  struct Access {
    bool writes = false;  // an expired key that is looked up is deleted
    Database::Touch touch = Database::Touch::kYes;
    KnownSlot slot = {};  // of all keys of the request, in a cluster and if it is known

    // Set while other threads read the data, too. Then only Find() and functions that read may be
    // called; the others assert that it is null.
    SharedRead* shared = nullptr;
  };

  Keys(Store& store, int database, Access access);

  int database() const { return database_.index(); }
  int database_count() const;

  // Whether this server is a node of a cluster: only the first database may be used.
  bool is_clustered() const;
  Millis now() const;

  // Deadlines at or before this time are due: now, or while nothing is due, a time long ago.
  Millis due_until() const { return database_.now(); }

  // --- Reading ---

  // The entry at `key`, or null. An expired one is deleted if the request may write, so that
  // the key's end is propagated before the request is; reads leave it to the tick.
  const Entry* Peek(std::string_view key);

  // Like Peek(), but counts a hit or a miss, and reports a missing key (the event "keymiss"). As in
  // Redis, this is for keys that are read. It is not for keys that are only changed.
  const Entry* Find(std::string_view key);

  // Like Find(), but does not report a missing key.
  const Entry* FindUnreported(std::string_view key);

  // All keys of the database, to iterate over or to draw from.
  const Keyspace& all() const { return database_.keys(); }

  // --- Changing ---

  // The entry at `key` to be changed, or null; an expired one is deleted.
  Entry* Open(std::string_view key) {
    assert(IsAlone());
    return database_.Open(key, access_.touch, access_.slot);
  }

  // An edit of the entry's value, which is a T. `event` is the name of the change in notifications.
  template <class T>
  Edit<T> Change(Entry& entry, KeyEvent event) {
    assert(IsAlone());
    return Edit<T>(database_, entry, event);
  }

  // Creates a key with an empty value and edits it. The key is removed silently if it stays empty.
  // A string must be lengthened immediately, because the empty string is a valid value.
  template <class T>
  Edit<T> Make(std::string_view key, KeyEvent event);

  // These do what Database's functions of the same names do.
  void Put(std::string_view key, Value&& value, KeyEvent event,
           std::optional<Millis> deadline = std::nullopt, uint64_t count = 1);
  void Put(std::unique_ptr<Entry> entry, KeyEvent event) {
    assert(IsAlone());
    database_.Put(std::move(entry), event);
  }
  void PutKeepingDeadline(std::string_view key, Value&& value, KeyEvent event);
  bool Erase(std::string_view key) {
    assert(IsAlone());
    return database_.Erase(key, KeyEvent::kDel, access_.slot);
  }
  void ExpireAt(Entry& entry, Millis deadline) {
    assert(IsAlone());
    database_.ExpireAt(entry, deadline);
  }
  bool Persist(Entry& entry) {
    assert(IsAlone());
    return database_.Persist(entry);
  }

  // Renames the key and replaces the value at `new_key`. The names differ.
  void Rename(Entry& entry, std::string_view new_key);

  // Whether the key exists in that database.
  bool ExistsIn(int database, std::string_view key);

  // Moves the key to another database, or copies it to `target` in that database, and replaces the
  // value there. Not onto itself.
  void MoveTo(int database, Entry& entry);
  void CopyTo(int database, std::string_view target, const Entry& entry);

  // Deletes all keys of the database; exchanges those of two.
  void Clear();
  void SwapDatabases(int a, int b);

  // --- What goes with the data ---

  // The source of all randomness that a client can see in the data.
  Rng& rng();

  // Returns the result of an operation on sets, in the encoding that it has when it is stored.
  using SetOperation = Set (*)(std::span<const Set* const> sets, const SetLimits& limits);
  Set Combine(SetOperation operation, std::span<const Set* const> sets) const;

  // Returns an entry with the value that the reader contains, or null if the value is not sound.
  std::unique_ptr<Entry> Read(RdbReader& reader, RdbType type, std::string_view key,
                              std::optional<Millis> deadline) const;

  // The most entries of a block of a stream (stream-node-max-entries); 0: no limit.
  uint64_t most_stream_block_entries() const;

  // Whether integer scores that would be rounded are refused (zset-refuse-inexact-integers).
  // Applied requests are not checked.
  bool refuses_inexact_integers() const;

  // Whether the request was propagated by another server or by a log.
  bool applies_effects() const;

  // The size of the longest string (proto-max-bulk-len).
  size_t most_string_bytes() const;

  // The size above which a HyperLogLog is encoded densely (hll-sparse-max-bytes).
  size_t most_sparse_hyperloglog_bytes() const;

  // Whether readers of the log and of the stream know HPEXPIREAT and HPERSIST
  // (propagation-compatibility).
  bool readers_know_field_deadlines() const;

  // Whether DUMP compresses strings (rdbcompression).
  bool compresses_dumps() const;

  // How keys have been used, for eviction.
  const AccessTracker& access_tracker() const;

  // Copies of values for long replies.
  ValueCopies& copies();

  // The shared run of the command, or null if no other thread uses the engine.
  SharedRead* shared() const { return access_.shared; }

 private:
  bool IsAlone() const { return access_.shared == nullptr; }
  const Entry* FindShared(std::string_view key);

  Store& store_;
  Database& database_;
  Access access_;
};

}  // namespace zsetd
