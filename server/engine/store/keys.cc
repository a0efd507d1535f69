#include "server/engine/store/keys.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "core/keyspace/value.h"
#include "protocol/resp/request_parser.h"
#include "server/engine/store/rdb_value_reader.h"
#include "server/engine/store/shared_read.h"
#include "server/engine/store/store.h"

namespace zsetd {

Keys::Keys(Store& store, int database, Access access)
    : store_(store), database_(store.database(database)), access_(access) {}

int Keys::database_count() const { return store_.database_count(); }

bool Keys::is_clustered() const { return store_.settings().cluster_enabled; }

// Not the database's, for which nothing may be due.
Millis Keys::now() const { return store_.now(); }

const Entry* Keys::Peek(std::string_view key) {
  assert(IsAlone());
  const bool deletes_expired = access_.writes || !store_.expires_actively();
  return deletes_expired ? database_.Open(key, access_.touch, access_.slot)
                         : database_.Use(key, access_.touch, access_.slot);
}

const Entry* Keys::Find(std::string_view key) {
  if (!IsAlone()) [[unlikely]]
    return FindShared(key);
  const Entry* entry = Peek(key);
  if (entry == nullptr) store_.ReportMiss(database(), key);
  store_.CountLookup(/*hit=*/entry != nullptr);
  return entry;
}

const Entry* Keys::FindUnreported(std::string_view key) {
  const Entry* entry = Peek(key);
  store_.CountLookup(/*hit=*/entry != nullptr);
  return entry;
}

// A notification of a missing key changes the output of other clients.
const Entry* Keys::FindShared(std::string_view key) {
  SharedRead& read = *access_.shared;
  const Entry* entry = database_.UseShared(key, access_.touch, access_.slot, read.must_run_alone);
  const bool reports_miss = store_.settings().notify_keyspace_events.Has('m');
  if (entry == nullptr && reports_miss) read.must_run_alone = true;
  ++(entry != nullptr ? read.hits : read.misses);
  return entry;
}

template <class T>
Edit<T> Keys::Make(std::string_view key, KeyEvent event) {
  assert(IsAlone());
  if constexpr (std::is_same_v<T, ByteString>) {
    return Edit<ByteString>::Make(database_, key, event);
  } else {
    return Edit<T>(database_, database_.Make(key, T()), event, /*is_new=*/true);
  }
}

template Edit<ByteString> Keys::Make(std::string_view key, KeyEvent event);
template Edit<List> Keys::Make(std::string_view key, KeyEvent event);
template Edit<Hash> Keys::Make(std::string_view key, KeyEvent event);
template Edit<Set> Keys::Make(std::string_view key, KeyEvent event);
template Edit<SortedSet> Keys::Make(std::string_view key, KeyEvent event);
template Edit<Stream> Keys::Make(std::string_view key, KeyEvent event);

void Keys::Put(std::string_view key, Value&& value, KeyEvent event, std::optional<Millis> deadline,
               uint64_t count) {
  assert(IsAlone());
  database_.Put(key, std::move(value), event, deadline, count, access_.touch, access_.slot);
}

void Keys::PutKeepingDeadline(std::string_view key, Value&& value, KeyEvent event) {
  assert(IsAlone());
  database_.PutKeepingDeadline(key, std::move(value), event, access_.touch, access_.slot);
}

void Keys::Rename(Entry& entry, std::string_view new_key) {
  assert(IsAlone());
  assert(entry.key() != new_key);
  database_.Move(entry, database_, new_key, KeyEvent::kRenameFrom, KeyEvent::kRenameTo);
}

bool Keys::ExistsIn(int database, std::string_view key) {
  assert(IsAlone());
  return store_.database(database).Open(key, access_.touch) != nullptr;
}

void Keys::MoveTo(int database, Entry& entry) {
  assert(IsAlone());
  assert(database != this->database());
  Database& destination = store_.database(database);
  database_.Move(entry, destination, std::string(entry.key()), KeyEvent::kMoveFrom,
                 KeyEvent::kMoveTo);
}

void Keys::CopyTo(int database, std::string_view target, const Entry& entry) {
  assert(IsAlone());
  assert(database != this->database() || entry.key() != target);
  database_.Copy(entry, store_.database(database), target, KeyEvent::kCopyTo);
}

void Keys::Clear() {
  assert(IsAlone());
  store_.Clear(database());
}

void Keys::SwapDatabases(int a, int b) {
  assert(IsAlone());
  store_.SwapDatabases(a, b);
}

Set Keys::Combine(SetOperation operation, std::span<const Set* const> sets) const {
  return operation(sets, database_.set_limits());
}

std::unique_ptr<Entry> Keys::Read(RdbReader& reader, RdbType type, std::string_view key,
                                  std::optional<Millis> deadline) const {
  return ReadValue(reader, type, key, deadline, due_until(), database_.limits());
}

uint64_t Keys::most_stream_block_entries() const { return database_.stream_limits().entries; }

Rng& Keys::rng() {
  assert(IsAlone());
  return store_.rng();
}

bool Keys::readers_know_field_deadlines() const {
  return store_.settings().propagation_compatibility >= RedisRelease::k74;
}

bool Keys::refuses_inexact_integers() const {
  return store_.settings().zset_refuse_inexact_integers && !store_.nothing_due();
}

bool Keys::applies_effects() const { return store_.nothing_due(); }

// The server that propagated a request has already checked the length, perhaps with another limit.
size_t Keys::most_string_bytes() const {
  const auto most = static_cast<size_t>(store_.settings().proto_max_bulk_len);
  return applies_effects() ? kMostStringBytes : std::min(most, kMostStringBytes);
}

size_t Keys::most_sparse_hyperloglog_bytes() const {
  return static_cast<size_t>(store_.settings().hll_sparse_max_bytes);
}

bool Keys::compresses_dumps() const { return store_.settings().rdbcompression; }

const AccessTracker& Keys::access_tracker() const { return store_.access_tracker(); }

ValueCopies& Keys::copies() {
  assert(IsAlone());
  return store_.copies();
}

}  // namespace zsetd
