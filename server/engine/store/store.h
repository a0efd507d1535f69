#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/keyspace/access_tracker.h"
#include "core/util/rng.h"
#include "core/util/time.h"
#include "server/engine/config/settings.h"
#include "server/engine/metrics/metrics.h"
#include "server/engine/store/database.h"
#include "server/engine/store/memory_gauge.h"
#include "server/engine/store/own_deadlines.h"
#include "server/engine/store/store_listener.h"
#include "server/engine/store/value_copies.h"
#include "server/engine/support/host.h"

namespace zsetd {

class Evictor;

// The data: the databases, their time, and which keys expire or are evicted. Knows no clients and
// writes no replies; the listener handles the consequences of a change.
//
// Invariants: all databases have the same time, or none if nothing is due; each change of a key is
// counted and passed to the listener once.
class Store {
 public:
  using Databases = std::span<const std::unique_ptr<Database>>;

  // All arguments outlive it. The settings are read when they are needed, except those that
  // ApplySettings() applies.
  Store(const Settings& settings, const Host& host, Metrics& metrics, StoreListener& listener,
        uint64_t seed, Millis now);
  Store(const Store&) = delete;
  ~Store();

  // Applies the settings that are not read where they are used.
  void ApplySettings();

  // Deadlines are instants of this clock; it may be set back. O(databases).
  void AdvanceTo(Millis now);
  Millis now() const { return now_; }

  // While nothing is due, no key is past its deadline, whatever the time: for propagation/ and
  // applier.h. O(databases).
  void SetNothingDue(bool nothing_due);
  bool nothing_due() const { return nothing_due_; }

  // On a replica keys and elements stay past their deadline, until the master deletes them; except
  // those of keys that were changed here. O(databases).
  void set_leaves_expiry_to_master(bool leaves);

  const std::vector<std::unique_ptr<Database>>& databases() const { return databases_; }
  Database& database(int index) { return *databases_[index]; }
  const Database& database(int index) const { return *databases_[index]; }
  int database_count() const { return static_cast<int>(databases_.size()); }

  // Deletes all keys of one database, or of all. O(databases) if the host frees in the background.
  void Clear(int database);
  void ClearAll();
  void SwapDatabases(int a, int b);

  // How many changes there were since the start, in Redis's way of counting (Change::count).
  uint64_t change_count() const { return change_count_; }

  // Counts a change of data on disk other than keys: of the libraries of functions.
  void CountChange() { ++change_count_; }

  const Settings& settings() const { return settings_; }

  // A key was looked up to be read or changed.
  void CountLookup(bool hit) {
    Stats& stats = metrics_.stats();
    ++(hit ? stats.keyspace_hits : stats.keyspace_misses);
  }

  // A key to be read does not exist.
  void ReportMiss(int database, std::string_view key) { listener_.OnMiss(database, key); }

  // Deletes keys that are past their deadline, and elements of values that are, until none is or
  // `budget` is spent.
  void DeleteExpired(Micros budget);

  // Deletes keys of a replica that were changed here and are past their deadline, and elements of
  // such keys that are, until none is or `budget` is spent. Returns whether it deleted any.
  bool DeleteOwnExpired(Micros budget);

  // The earliest deadline of these keys and elements that is to be deleted actively; nullopt
  // without one.
  std::optional<Millis> NextOwnDeadline() const {
    return expires_actively_ ? own_deadlines_.Next() : std::nullopt;
  }

  // Whether expired keys and elements are deleted actively. They are never visible.
  void set_expires_actively(bool expires) { expires_actively_ = expires; }
  bool expires_actively() const { return expires_actively_; }

  // The earliest deadline of a key or an element that is to be deleted actively, past if it is not
  // deleted yet; nullopt without one. O(databases).
  std::optional<Millis> NextDeadline() const;

  // maxmemory is set. Evicts keys until no more than that is used, or until that would delay the
  // request too much (maxmemory-eviction-tenacity). False if there is nothing more to evict. While
  // memory suffices, this costs a few loads.
  bool MakeRoom();

  // Whether MakeRoom() would do nothing. A few loads.
  bool HasRoom() const;

  // Whether the last MakeRoom() was cut short, and the next is due immediately.
  bool IsEvictionDue() const { return is_eviction_due_; }
  void PostponeEviction() { is_eviction_due_ = false; }

  // Whether more than maxmemory is used, and eviction could not help, as of the last MakeRoom().
  bool LacksMemory() const { return settings_.maxmemory > 0 && lacks_memory_; }

  // Whether more than maxmemory was used at the last MakeRoom(), and for how long.
  bool ExceedsLimit() const { return exceeds_limit_since_.has_value(); }
  Micros ExceedsLimitFor() const;

  // Two kinds of bytes in use cause no eviction, because evictions would only add to them: the
  // output kept for slow replicas, and what waits to be written to the log. `log_bytes` returns the
  // latter; it is called when they matter.
  void set_bytes_for_replicas(size_t bytes) { bytes_for_replicas_ = bytes; }
  void set_log_bytes(std::function<size_t()> log_bytes) {
    measure_log_bytes_ = std::move(log_bytes);
  }
  size_t bytes_for_replicas() const { return bytes_for_replicas_; }
  size_t log_bytes() const { return log_bytes_; }  // when they were last measured

  // Measures the memory that other threads have freed, periodically. Must be called often.
  void MeasureMemory() { MeasureMemoryAfter(Millis(100)); }

  // Frees it in the background, if there is someone to do so; null is allowed. `bytes` is about its
  // size, or 0 if that is unknown.
  void FreeLater(std::shared_ptr<void> garbage, size_t bytes = 0, size_t objects = 1);

  const MemoryGauge& gauge() const { return gauge_; }
  MemoryGauge& gauge() { return gauge_; }
  AccessTracker& access_tracker() { return access_tracker_; }
  const AccessTracker& access_tracker() const { return access_tracker_; }
  ValueCopies& copies() { return copies_; }

  // The source of all randomness that a client can see in the data.
  Rng& rng() { return rng_; }

 private:
  void OnChange(const Change& change);
  void NoteOwnDeadline(const Change& change);
  static bool DeleteDue(Database& database, std::string_view key);
  void Drop(int database);
  void DeleteExpiredUntil(Micros until);  // by the stopwatch
  int64_t ExcessOver(size_t limit) const;
  bool EvictDownTo(size_t limit);
  int64_t Evict(int database, std::string_view key);
  void RecordWithinLimit();
  void MeasureMemoryAfter(Millis interval);
  size_t CountedBytes() const {
    const size_t used = gauge_.Used();
    return used - std::min(used, bytes_for_replicas_ + log_bytes_);
  }

  const Settings& settings_;
  const Host& host_;
  Metrics& metrics_;
  StoreListener& listener_;
  Rng rng_;
  AccessTracker access_tracker_{rng_};
  const std::unique_ptr<Evictor> evictor_;
  MemoryGauge gauge_;
  const std::unique_ptr<ValueLimits> limits_;  // by the present settings
  std::vector<std::unique_ptr<Database>> databases_;
  ValueCopies copies_;
  Millis now_;
  uint64_t change_count_ = 0;
  bool nothing_due_ = false;
  bool leaves_expiry_to_master_ = false;
  OwnDeadlines own_deadlines_;
  bool expires_actively_ = true;
  bool lacks_memory_ = false;
  bool is_eviction_due_ = false;
  Millis measured_at_{0};
  std::optional<Micros> exceeds_limit_since_;  // by the stopwatch
  size_t bytes_for_replicas_ = 0;
  std::function<size_t()> measure_log_bytes_;  // null: there is no log
  size_t log_bytes_ = 0;
  int64_t eviction_message_bytes_ = 0;  // of messages about the last eviction
};

}  // namespace zsetd
