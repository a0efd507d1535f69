#include "server/engine/store/evictor.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace zsetd {
namespace {

constexpr size_t kPoolSize = 16;  // as Redis

// Hidden keys are imported from another node of a cluster, which still owns them, and are not
// evicted. If this number of looks finds no other key, nothing is evicted.
constexpr size_t kMostLooks = 200;

template <class Visit>
void Sample(const Keyspace& keys, bool only_volatile, size_t count, Rng& rng, Visit visit) {
  if (only_volatile) {
    keys.SampleWithDeadline(rng, count, visit);
  } else {
    keys.Sample(rng, count, visit);
  }
}

const Entry* RandomEntry(const Keyspace& keys, bool only_volatile, Rng& rng) {
  return only_volatile ? keys.RandomWithDeadline(rng) : keys.RandomEvenDue(rng);
}

// Includes hidden keys: they would take a pass over all slots for each look.
size_t CandidateCount(const Keyspace& keys, bool only_volatile) {
  return only_volatile ? keys.with_deadline() : keys.size();
}

}  // namespace

EvictionPolicy EvictionPolicy::Of(MaxmemoryPolicy policy) {
  switch (policy) {
    case MaxmemoryPolicy::kVolatileLru:
    case MaxmemoryPolicy::kVolatileLfu:
      return {.order = Order::kUse, .only_volatile = true};
    case MaxmemoryPolicy::kVolatileRandom:
      return {.order = Order::kRandom, .only_volatile = true};
    case MaxmemoryPolicy::kVolatileTtl:
      return {.order = Order::kDeadline, .only_volatile = true};
    case MaxmemoryPolicy::kAllKeysLru:
    case MaxmemoryPolicy::kAllKeysLfu:
      return {.order = Order::kUse};
    case MaxmemoryPolicy::kAllKeysRandom:
      return {.order = Order::kRandom};
    case MaxmemoryPolicy::kNoEviction:
      return {};
  }
  return {};
}

namespace {

int64_t IntervalOf(Millis time) { return time / Millis(50); }

}  // namespace

void Evictor::NoteMessages(int64_t bytes, Millis now) {
  const int64_t interval = IntervalOf(now);
  if (interval != interval_) {
    earlier_messages_ = interval == interval_ + 1 ? messages_ : 0;
    messages_ = 0;
    interval_ = interval;
  }
  messages_ += bytes;
}

int64_t Evictor::RecentMessages(Millis now) const {
  const int64_t age = IntervalOf(now) - interval_;
  if (age == 0) return messages_ + earlier_messages_;
  return age == 1 ? messages_ : 0;
}

std::optional<Evictor::Victim> Evictor::Choose(const EvictionPolicy& policy, size_t samples,
                                               Databases databases) {
  switch (policy.order) {
    case EvictionPolicy::Order::kUse:
      return ByUse(policy.only_volatile, samples, databases);
    case EvictionPolicy::Order::kRandom:
      return ByRandom(policy.only_volatile, databases);
    case EvictionPolicy::Order::kDeadline:
      return ByDeadline(databases);
    default:
      return std::nullopt;
  }
}

// A look may find nothing where few keys have a deadline, or nothing that is not in the pool; as
// long as there is one that may go, another look will.
std::optional<Evictor::Victim> Evictor::ByUse(bool only_volatile, size_t samples,
                                              Databases databases) {
  assert(samples > 0);  // or it would look forever
  const auto may_go = [&](const auto& each) {
    return CandidateCount(each->keys(), only_volatile) > 0;
  };
  for (size_t looks = 0; looks < kMostLooks && std::ranges::any_of(databases, may_go);) {
    for (const auto& database : databases) {
      const int index = database->index();
      looks += database->keys().HidesSlots();
      Sample(database->keys(), only_volatile, samples, rng_, [&](const Entry& entry) {
        if (!database->keys().IsHidden(entry)) Consider(entry, index);
      });
    }
    if (auto victim = TakeBest(only_volatile, databases)) return victim;
  }
  return std::nullopt;
}

void Evictor::Consider(const Entry& entry, int database) {
  const AccessTracker::Stamp stamp = entry.access_stamp();
  const uint64_t rank = tracker_.EvictionRank(stamp);
  if (pool_.size() == kPoolSize && rank <= pool_.front().rank) return;
  const bool known = std::ranges::any_of(pool_, [&](const Candidate& each) {
    return each.stamp == stamp && each.database == database && each.key == entry.key();
  });
  if (known) return;
  const auto place = std::ranges::lower_bound(pool_, rank, {}, &Candidate::rank);
  pool_.insert(place, {rank, stamp, database, std::string(entry.key())});
  if (pool_.size() > kPoolSize) pool_.erase(pool_.begin());
  assert(std::ranges::is_sorted(pool_, {}, &Candidate::rank));
}

std::optional<Evictor::Victim> Evictor::TakeBest(bool only_volatile, Databases databases) {
  while (!pool_.empty()) {
    Candidate best = std::move(pool_.back());
    pool_.pop_back();
    const Entry* entry = databases[best.database]->keys().FindEvenDue(best.key);
    if (entry == nullptr || entry->access_stamp() != best.stamp) continue;
    if (only_volatile && !entry->deadline()) continue;
    return Victim{best.database, std::move(best.key)};
  }
  return std::nullopt;
}

// The databases take turns, also if the look found a hidden key. `passed` counts the databases
// without candidates since the last look.
std::optional<Evictor::Victim> Evictor::ByRandom(bool only_volatile, Databases databases) {
  size_t looks = 0;
  for (size_t passed = 0; passed < databases.size() && looks < kMostLooks;) {
    const Database& database = *databases[next_database_ % databases.size()];
    if (CandidateCount(database.keys(), only_volatile) == 0) {
      ++next_database_;
      ++passed;
      continue;
    }
    ++next_database_;
    passed = 0;
    ++looks;
    const Entry* entry = RandomEntry(database.keys(), only_volatile, rng_);
    if (entry == nullptr || database.keys().IsHidden(*entry)) continue;
    return Victim{database.index(), std::string(entry->key())};
  }
  return std::nullopt;
}

std::optional<Evictor::Victim> Evictor::ByDeadline(Databases databases) {
  const Entry* first = nullptr;
  int index = 0;
  for (const auto& database : databases) {
    const Entry* entry = database->keys().FirstToExpire();
    if (entry == nullptr || (first != nullptr && entry->deadline() >= first->deadline())) continue;
    first = entry;
    index = database->index();
  }
  if (first == nullptr) return std::nullopt;
  if (databases[index]->keys().IsHidden(*first)) return ByRandom(/*only_volatile=*/true, databases);
  return Victim{index, std::string(first->key())};
}

}  // namespace zsetd
