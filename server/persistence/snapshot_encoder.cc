#include "server/persistence/snapshot_encoder.h"

#include <algorithm>
#include <utility>

#include "server/engine/store/rdb_value_writer.h"
#include "server/engine/support/redis_version.h"
#include "server/persistence/element_deadlines.h"

namespace zsetd {

SnapshotEncoder::SnapshotEncoder(const Settings& settings, const AccessTracker& access_tracker)
    : writer_(bytes_, settings.rdbcompression),
      access_tracker_(access_tracker),
      use_(IsLfu(settings.maxmemory_policy)   ? Use::kFrequency
           : IsLru(settings.maxmemory_policy) ? Use::kIdle
                                              : Use::kNone) {}

void SnapshotEncoder::Begin(Millis now, size_t used_bytes, std::string_view functions,
                            bool is_log_base, const Snapshot& snapshot) {
  snapshot_ = &snapshot;
  writer_.Magic();
  writer_.Aux("redis-ver", kRedisVersion);
  writer_.Aux("redis-bits", "64");
  writer_.Aux("ctime", std::to_string(now.count() / 1000));
  writer_.Aux("used-mem", std::to_string(used_bytes));
  writer_.Aux("aof-base", is_log_base ? "1" : "0");
  writer_.Aux("zsetd-ver", ZSETD_VERSION);
  bytes_ += functions;
}

// Entries that are handed out before their turn may be of another database than those around them,
// so that a database is selected more than once: every loader takes that. Sizes are said the first
// time.
void SnapshotEncoder::Select(int database) {
  if (database == selected_) return;
  selected_ = database;
  writer_.Database(static_cast<uint64_t>(database));
  if (std::ranges::count(selected_once_, database) > 0) return;
  selected_once_.push_back(database);
  for (const auto& keyspace : snapshot_->keyspaces()) {
    if (keyspace->database() != database) continue;
    writer_.Sizes(keyspace->keys(), keyspace->keys_with_deadline());
  }
}

void SnapshotEncoder::WriteUse(const Entry& entry) {
  const AccessTracker::Stamp mark = entry.access_stamp();
  if (use_ == Use::kIdle) {
    writer_.Idle(static_cast<uint64_t>(access_tracker_.IdleTime(mark).count()));
  } else if (use_ == Use::kFrequency) {
    writer_.Frequency(access_tracker_.Count(mark));
  }
}

void SnapshotEncoder::Receive(int database, const Entry& entry) {
  Select(database);
  if (entry.deadline()) writer_.Deadline(entry.deadline()->count());
  WriteUse(entry);
  RdbWriter& writer = writer_.Key(RdbTypeOf(entry), entry.key());
  WriteValue(entry, writer);
  WriteElementDeadlines(entry, writer_);
  ++keys_;
}

void SnapshotEncoder::End() { writer_.End(); }

std::string SnapshotEncoder::Take() { return std::exchange(bytes_, {}); }

}  // namespace zsetd
