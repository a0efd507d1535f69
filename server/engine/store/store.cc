#include "server/engine/store/store.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <utility>

#include "server/engine/store/evictor.h"
#include "server/engine/store/value_limits.h"
#include "server/engine/support/allocator_stats.h"

namespace zsetd {
namespace {

constexpr size_t kDeletionsPerLook = 32;  // of expired keys, between two readings of the stopwatch
constexpr size_t kEvictionsPerLook = 16;  // the same

// Other threads may have freed memory since the last measurement. A measurement takes about 10
// microseconds, so it is repeated only as often as that costs 1 %.
constexpr Millis kBetweenMeasurementsBeyondLimit{1};

// How long evictions may delay a command: 500 microseconds in the middle, and without limit at the
// end of the scale. As Redis.
Micros EvictionBudget(int64_t tenacity) {
  constexpr int64_t kMiddle = 10;
  constexpr double kGrowth = 1.15;
  if (tenacity >= 100) return Micros::max() / 2;
  if (tenacity <= kMiddle) return Micros(50 * tenacity);
  const double steps = static_cast<double>(tenacity - kMiddle);
  return Micros(static_cast<int64_t>(500 * std::pow(kGrowth, steps)));
}

// Returns the earliest deadline of the entry and its elements; nullopt without deadlines.
std::optional<Millis> EarliestDeadline(const Entry& entry) {
  const std::optional<Millis> of_elements = entry.EarliestElementDeadline();
  if (!entry.deadline() || !of_elements) return of_elements ? of_elements : entry.deadline();
  return std::min(*entry.deadline(), *of_elements);
}

}  // namespace

Store::Store(const Settings& settings, const Host& host, Metrics& metrics, StoreListener& listener,
             uint64_t seed, Millis now)
    : settings_(settings),
      host_(host),
      metrics_(metrics),
      listener_(listener),
      rng_(seed),
      evictor_(std::make_unique<Evictor>(access_tracker_, rng_)),
      gauge_(host.used_bytes ? MemoryGauge(host.used_bytes, {})
                             : MemoryGauge(UsedBytes, CountsOfThisThread())),
      limits_(std::make_unique<ValueLimits>()),
      now_(now) {
  const uint64_t hash_seed = rng_.Next();
  const auto arrangement =
      settings.cluster_enabled ? KeyArrangement::kBySlot : KeyArrangement::kWhole;
  for (int index = 0; index < settings.databases; ++index) {
    databases_.push_back(std::make_unique<Database>(
        index, hash_seed, [this](const Change& change) { OnChange(change); },
        [this](std::shared_ptr<void> garbage, size_t bytes, size_t objects) {
          FreeLater(std::move(garbage), bytes, objects);
        },
        &access_tracker_, arrangement));
    databases_.back()->set_limits(*limits_);
  }
  AdvanceTo(now);
  ApplySettings();
}

Store::~Store() = default;

void Store::ApplySettings() {
  *limits_ = ValueLimitsOf(settings_);
  access_tracker_.set_rule({.lfu = IsLfu(settings_.maxmemory_policy),
                            .log_factor = settings_.lfu_log_factor,
                            .decay_minutes = settings_.lfu_decay_time});
  Database::WantsSubkeys wants_subkeys;
  if (settings_.notify_keyspace_events.HasSubkeys()) {
    wants_subkeys = [this](KeyEvent event) { return listener_.WantsSubkeys(event); };
  }
  for (const auto& database : databases_) database->set_wants_subkeys(wants_subkeys);
  gauge_.Calibrate();
  is_eviction_due_ = settings_.maxmemory > 0;  // soon, and not within CONFIG SET
}

void Store::AdvanceTo(Millis now) {
  now_ = now;
  access_tracker_.AdvanceTo(now);
  if (nothing_due_) return;
  for (const auto& database : databases_) database->AdvanceTo(now);
}

void Store::set_leaves_expiry_to_master(bool leaves) {
  leaves_expiry_to_master_ = leaves;
  own_deadlines_.Clear();
  for (const auto& database : databases_) database->set_keeps_due_elements(leaves);
}

void Store::SetNothingDue(bool nothing_due) {
  nothing_due_ = nothing_due;
  for (const auto& database : databases_) database->AdvanceTo(nothing_due ? Millis::min() : now_);
}

// The messages that an eviction causes are measured apart: they must not cause further evictions.
void Store::OnChange(const Change& change) {
  change_count_ += change.count;
  if (change.event == KeyEvent::kExpired) ++metrics_.stats().expired_keys;
  metrics_.stats().expired_elements += change.expired_elements.size();
  copies_.Touch(change.database, change.key);
  if (leaves_expiry_to_master_) [[unlikely]]
    NoteOwnDeadline(change);
  if (change.event != KeyEvent::kEvicted) return listener_.OnChange(change);
  ++metrics_.stats().evicted_keys;
  const auto before = static_cast<int64_t>(gauge_.Used());
  listener_.OnChange(change);
  eviction_message_bytes_ = static_cast<int64_t>(gauge_.Used()) - before;
}

// Nothing is due while the stream of the master is applied: its changes are not the clients'.
void Store::NoteOwnDeadline(const Change& change) {
  assert(leaves_expiry_to_master_);
  if (nothing_due_) return;
  const Entry* const entry = databases_[change.database]->Find(change.key);
  own_deadlines_.Set({change.database, std::string(change.key)},
                     entry == nullptr ? std::nullopt : EarliestDeadline(*entry));
}

void Store::Drop(int index) {
  assert(0 <= index && index < database_count());
  own_deadlines_.Clear(index);
  copies_.TouchAll(index);
  change_count_ += databases_[index]->keys().size();
  databases_[index]->Clear();
}

void Store::Clear(int index) {
  listener_.BeforeClear(Databases(databases_).subspan(index, 1));
  Drop(index);
}

void Store::ClearAll() {
  listener_.BeforeClear(databases_);
  for (int index = 0; index < database_count(); ++index) Drop(index);
}

void Store::SwapDatabases(int a, int b) {
  assert(0 <= std::min(a, b) && std::max(a, b) < database_count());
  ++change_count_;
  if (a == b) return;
  listener_.BeforeSwap(*databases_[a], *databases_[b]);
  databases_[a]->SwapKeysWith(*databases_[b]);
  own_deadlines_.Swap(a, b);
  copies_.TouchAll(a);
  copies_.TouchAll(b);
}

void Store::DeleteExpired(Micros budget) {
  const Micros start = host_.stopwatch();
  if (expires_actively_) DeleteExpiredUntil(start + budget);
  const Micros took = host_.stopwatch() - start;
  metrics_.stats().expiry_time += took;
  metrics_.RecordLatency("expire-cycle", took, now_);
}

bool Store::DeleteOwnExpired(Micros budget) {
  if (!expires_actively_ || nothing_due_) return false;
  const Micros until = host_.stopwatch() + budget;
  size_t looked_at = 0;
  bool has_deleted = false;
  while (const std::optional<Millis> next = own_deadlines_.Next()) {
    if (*next > now_) break;
    OwnDeadlines::Key first = own_deadlines_.TakeFirst();
    has_deleted |= DeleteDue(*databases_[first.first], first.second);
    const Entry* const rest = databases_[first.first]->Find(first.second);
    if (rest != nullptr) own_deadlines_.Set(std::move(first), EarliestDeadline(*rest));
    if (++looked_at % kDeletionsPerLook == 0 && host_.stopwatch() > until) break;
  }
  return has_deleted;
}

// Deletes the key if it is due, else the elements that are, at most some. Returns whether it
// deleted anything.
bool Store::DeleteDue(Database& database, std::string_view key) {
  const Keyspace& keys = database.keys();
  if (keys.FindEvenDue(key) != nullptr && keys.Find(key) == nullptr) {
    database.Open(key);  // which deletes it
    return true;
  }
  return database.ReclaimKeptElementsOf(key, kDeletionsPerLook) > 0;
}

void Store::DeleteExpiredUntil(Micros until) {
  for (const auto& database : databases_) {
    for (size_t reclaimed = kDeletionsPerLook; reclaimed == kDeletionsPerLook;) {
      reclaimed = database->ReclaimDue(kDeletionsPerLook);
      reclaimed += database->ReclaimDueElements(kDeletionsPerLook - reclaimed);
      if (host_.stopwatch() <= until) continue;
      if (reclaimed == kDeletionsPerLook) ++metrics_.stats().expiries_cut_short;
      return;
    }
  }
}

std::optional<Millis> Store::NextDeadline() const {
  std::optional<Millis> earliest;
  if (!expires_actively_) return earliest;
  for (const auto& database : databases_) {
    const Keyspace& keys = database->keys();  // most have none: this is called for every batch
    if (keys.with_deadline() == 0 && keys.with_element_deadlines() == 0) continue;
    const std::optional<Millis> next = database->keys().NextDeadline();
    if (next && (!earliest || *next < *earliest)) earliest = next;
  }
  return earliest;
}

bool Store::MakeRoom() {
  assert(settings_.maxmemory > 0);
  const auto limit = static_cast<size_t>(settings_.maxmemory);
  is_eviction_due_ = false;
  lacks_memory_ = false;
  if (CountedBytes() > limit) MeasureMemoryAfter(kBetweenMeasurementsBeyondLimit);
  if (CountedBytes() <= limit) {
    RecordWithinLimit();
    return true;
  }
  if (!exceeds_limit_since_) exceeds_limit_since_ = host_.stopwatch();
  lacks_memory_ = !EvictDownTo(limit);
  if (CountedBytes() <= limit) RecordWithinLimit();
  return !lacks_memory_;
}

bool Store::HasRoom() const {
  if (settings_.maxmemory == 0) return true;
  if (is_eviction_due_ || lacks_memory_ || exceeds_limit_since_) return false;
  return CountedBytes() <= static_cast<size_t>(settings_.maxmemory);
}

// Replies that other threads are sending, and messages that they have not yet had the time to send,
// do not count. With one thread they would have been sent before the next request.
int64_t Store::ExcessOver(size_t limit) const {
  const auto used = static_cast<int64_t>(CountedBytes());
  if (settings_.io_threads == 1) return used - static_cast<int64_t>(limit);
  const auto unsent = static_cast<int64_t>(gauge_.BytesBeingSent());
  return used - unsent - evictor_->RecentMessages(now_) - static_cast<int64_t>(limit);
}

// Evicts as many keys as the present excess needs. The messages that evictions cause (keyspace
// events, CLIENT TRACKING) do not count, or evictions would cause further ones.
bool Store::EvictDownTo(size_t limit) {
  const EvictionPolicy policy = EvictionPolicy::Of(settings_.maxmemory_policy);
  const auto samples = static_cast<size_t>(settings_.maxmemory_samples);
  const Micros start = host_.stopwatch();
  const Micros until = start + EvictionBudget(settings_.maxmemory_eviction_tenacity);
  // A choice among few volatile keys can take longer than 16 evictions; see ExpiryIndex::Random.
  const size_t evictions_per_look = policy.only_volatile ? 1 : kEvictionsPerLook;
  size_t evicted = 0;
  int64_t excess = ExcessOver(limit);
  while (excess > 0) {
    const auto victim = evictor_->Choose(policy, samples, databases_);
    if (!victim) break;
    excess -= Evict(victim->database, victim->key);
    if (++evicted % evictions_per_look != 0 || host_.stopwatch() <= until) continue;
    is_eviction_due_ = true;
    break;
  }
  if (evicted > 0) metrics_.RecordLatency("eviction-cycle", host_.stopwatch() - start, now_);
  return is_eviction_due_ || excess <= 0;
}

// Returns how many bytes the key took.
int64_t Store::Evict(int database, std::string_view key) {
  assert(databases_[database]->keys().FindEvenDue(key) != nullptr);
  eviction_message_bytes_ = 0;
  const auto before = static_cast<int64_t>(gauge_.Used());
  databases_[database]->Evict(key);
  if (settings_.io_threads > 1) evictor_->NoteMessages(eviction_message_bytes_, now_);
  return before - static_cast<int64_t>(gauge_.Used()) + eviction_message_bytes_;
}

void Store::RecordWithinLimit() {
  if (!exceeds_limit_since_) return;
  metrics_.stats().memory_short_time += host_.stopwatch() - *exceeds_limit_since_;
  exceeds_limit_since_.reset();
}

Micros Store::ExceedsLimitFor() const {
  return exceeds_limit_since_ ? host_.stopwatch() - *exceeds_limit_since_ : Micros(0);
}

void Store::MeasureMemoryAfter(Millis interval) {
  if (std::chrono::abs(now_ - measured_at_) < interval) return;
  measured_at_ = now_;
  gauge_.Calibrate();
  if (measure_log_bytes_ != nullptr) log_bytes_ = measure_log_bytes_();
}

void Store::FreeLater(std::shared_ptr<void> garbage, size_t bytes, size_t objects) {
  if (!host_.free_in_background || garbage == nullptr) return;
  gauge_.FreeInBackground(std::move(garbage), bytes, objects, host_.free_in_background);
}

}  // namespace zsetd
