// Records the use of keys in a stamp of 24 bits in each entry. A stamp is either the time of the
// last use or a decaying count of uses.
//
//   time    [ seconds: 24 ]                    at which it was used last; wraps after 194 days
//   count   [ minutes: 16 | logarithm: 8 ]     when it was last used, and about how often
//
// The count is a Morris counter (1978, "Counting large numbers of events in small registers"). The
// higher it is, the less likely a use increments it. With a factor of 10, a million uses fill it.
// It falls by one every `decay_minutes`. Layout, first value and probabilities are those that Redis
// documents for lfu-log-factor and lfu-decay-time.
#pragma once

#include <cassert>
#include <chrono>
#include <cstdint>

#include "core/keyspace/access_tracker.h"
#include "core/keyspace/entry.h"
#include "core/util/rng.h"
#include "core/util/time.h"

namespace zsetd {

// The meaning of stamps.
struct AccessRule {
  bool lfu = false;           // stamps are counts, not times
  int64_t log_factor = 10;    // 0: each use is counted
  int64_t decay_minutes = 1;  // 0: counts do not fade

  bool operator==(const AccessRule&) const = default;
};

// Reads and writes the stamps of entries. Stamps keep their bits when the rule changes from times
// to counts or back, and have no useful value until they are rewritten. All functions are O(1).
class AccessTracker {
 public:
  using Stamp = uint32_t;  // 24 bits

  explicit AccessTracker(Rng& rng) : rng_(rng) {}

  void set_rule(const AccessRule& rule) { rule_ = rule; }
  void AdvanceTo(Millis now) { now_ = now; }
  const AccessRule& rule() const { return rule_; }

  void RecordAccess(Entry& entry) {
    const Stamp before = entry.access_stamp();
    const Stamp after = rule_.lfu ? CountedOnce(before) : Seconds();
    if (after != before) entry.set_access_stamp(after);  // else the cache line stays clean
  }

  // Like RecordAccess(), while other threads read the entry or record accesses, too. Precondition:
  // stamps are times.
  void RecordAccessShared(Entry& entry) const {
    assert(!rule_.lfu);
    entry.SetAccessStampShared(Seconds());
  }

  // The stamp of a new key, of a key that was idle for `idle`, and of a key with this use count.
  Stamp OfNewKey() const;
  Stamp OfIdle(std::chrono::seconds idle) const;
  Stamp OfCount(uint8_t count) const { return Minutes() << 8 | count; }

  // The time since the last use. Precondition: stamps are times.
  std::chrono::seconds IdleTime(Stamp stamp) const;

  // The logarithm of the use count, decayed up to now. Precondition: stamps are counts.
  uint8_t Count(Stamp stamp) const;

  // The key to evict first has the highest rank: the least recently or least frequently used one.
  uint64_t EvictionRank(Stamp stamp) const;

 private:
  Stamp Seconds() const { return static_cast<Stamp>(now_.count() / 1000) & 0xffffff; }
  Stamp Minutes() const { return static_cast<Stamp>(now_.count() / 60'000) & 0xffff; }
  Stamp CountedOnce(Stamp stamp);

  Rng& rng_;
  AccessRule rule_;
  Millis now_{0};
};

}  // namespace zsetd
