#include "server/engine/store/evictor.h"

#include <algorithm>
#include <utility>

namespace zsetd {
namespace {

constexpr size_t kPoolSize = 16;  // as Redis

template <class Visit>
void Sample(const Keyspace& keys, bool spares_lasting, size_t count, Rng& rng, Visit visit) {
  if (spares_lasting) {
    keys.SampleWithDeadline(rng, count, visit);
  } else {
    keys.Sample(rng, count, visit);
  }
}

size_t CandidateCount(const Keyspace& keys, bool spares_lasting) {
  return spares_lasting ? keys.with_deadline() : keys.size();
}

}  // namespace

EvictionPolicy EvictionPolicy::Of(std::string_view name) {
  EvictionPolicy policy = {.order = Order::kNone, .spares_lasting = name.starts_with("volatile")};
  if (name.ends_with("lru") || name.ends_with("lfu")) policy.order = Order::kUse;
  if (name.ends_with("random")) policy.order = Order::kChance;
  if (name.ends_with("ttl")) policy.order = Order::kDeadline;
  return policy;
}

std::optional<Evictor::Victim> Evictor::Choose(const EvictionPolicy& policy, size_t samples,
                                               Databases databases) {
  switch (policy.order) {
    case EvictionPolicy::Order::kUse:
      return ByUse(policy.spares_lasting, samples, databases);
    case EvictionPolicy::Order::kChance:
      return ByChance(policy.spares_lasting, databases);
    case EvictionPolicy::Order::kDeadline:
      return ByDeadline(databases);
    default:
      return std::nullopt;
  }
}

// A look may find nothing where few keys have a deadline, or nothing that is not in the pool; as
// long as there is one that may go, another look will.
std::optional<Evictor::Victim> Evictor::ByUse(bool spares_lasting, size_t samples,
                                              Databases databases) {
  const auto may_go = [&](const auto& each) {
    return CandidateCount(each->keys(), spares_lasting) > 0;
  };
  while (std::ranges::any_of(databases, may_go)) {
    for (const auto& database : databases) {
      const int index = database->index();
      Sample(database->keys(), spares_lasting, samples, rng_,
             [&](const Entry& entry) { Consider(entry, index); });
    }
    if (auto victim = TakeBest(spares_lasting, databases)) return victim;
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
}

std::optional<Evictor::Victim> Evictor::TakeBest(bool spares_lasting, Databases databases) {
  while (!pool_.empty()) {
    Candidate best = std::move(pool_.back());
    pool_.pop_back();
    const Entry* entry = databases[best.database]->keys().FindEvenDue(best.key);
    if (entry == nullptr || entry->access_stamp() != best.stamp) continue;
    if (spares_lasting && !entry->deadline()) continue;
    return Victim{best.database, std::move(best.key)};
  }
  return std::nullopt;
}

// The databases take turns.
std::optional<Evictor::Victim> Evictor::ByChance(bool spares_lasting, Databases databases) {
  for (size_t passed = 0; passed < databases.size();) {
    const Database& database = *databases[next_database_ % databases.size()];
    if (CandidateCount(database.keys(), spares_lasting) == 0) {
      ++next_database_;
      ++passed;
      continue;
    }
    std::optional<Victim> victim;
    Sample(database.keys(), spares_lasting, 1, rng_, [&](const Entry& entry) {
      victim = Victim{database.index(), std::string(entry.key())};
    });
    if (!victim) continue;  // another look will find one
    ++next_database_;
    return victim;
  }
  return std::nullopt;
}

std::optional<Evictor::Victim> Evictor::ByDeadline(Databases databases) const {
  const Entry* first = nullptr;
  int index = 0;
  for (const auto& database : databases) {
    const Entry* entry = database->keys().FirstToExpire();
    if (entry == nullptr || (first != nullptr && entry->deadline() >= first->deadline())) continue;
    first = entry;
    index = database->index();
  }
  if (first == nullptr) return std::nullopt;
  return Victim{index, std::string(first->key())};
}

}  // namespace zsetd
