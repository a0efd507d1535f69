#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/keyspace/access_tracker.h"
#include "core/util/rng.h"
#include "server/engine/config/setting_choices.h"
#include "server/engine/store/database.h"

namespace zsetd {

// Which keys are evicted first when memory is short.
struct EvictionPolicy {
  enum class Order { kNone, kUse, kRandom, kDeadline };

  Order order = Order::kNone;
  bool only_volatile = false;  // only keys with a deadline are evicted

  // The AccessTracker decides which accesses count as use.
  static EvictionPolicy Of(MaxmemoryPolicy policy);
};

// Chooses what is evicted next.
//
// By use, it samples a few random keys, and considers the best of earlier samples too: these wait
// in a pool. So the choice is close to the best of all keys, though only a few are sampled for
// each. A key that was used after it entered the pool is no longer a candidate.
class Evictor {
 public:
  struct Victim {
    int database = 0;
    std::string key;
  };
  using Databases = std::span<const std::unique_ptr<Database>>;

  // Both outlive the evictor.
  Evictor(const AccessTracker& meter, Rng& rng) : tracker_(meter), rng_(rng) {}

  // Nullopt if no key can be evicted. By use it samples `samples` keys of each database:
  // O(samples); else O(databases). See Keyspace::SampleWithDeadline and RandomWithDeadline.
  std::optional<Victim> Choose(const EvictionPolicy& policy, size_t samples, Databases databases);

  // Notes the memory of messages about evictions that other threads will send. They free it soon,
  // so it must not cause further evictions in the meantime. `now` may go back.
  void NoteMessages(int64_t bytes, Millis now);

  // Returns the bytes that were noted within the last 50 to 100 ms.
  int64_t RecentMessages(Millis now) const;

 private:
  struct Candidate {
    uint64_t rank;  // AccessTracker::EvictionRank, when it was sampled
    AccessTracker::Stamp stamp;
    int database;
    std::string key;
  };

  std::optional<Victim> ByUse(bool only_volatile, size_t samples, Databases databases);
  std::optional<Victim> ByRandom(bool only_volatile, Databases databases);
  std::optional<Victim> ByDeadline(Databases databases);
  void Consider(const Entry& entry, int database);
  std::optional<Victim> TakeBest(bool only_volatile, Databases databases);

  const AccessTracker& tracker_;
  Rng& rng_;
  std::vector<Candidate> pool_;  // the best last
  size_t next_database_ = 0;     // for chance

  // Bytes of messages, noted in the current and in the previous interval of 50 ms.
  int64_t messages_ = 0;
  int64_t earlier_messages_ = 0;
  int64_t interval_ = 0;
};

}  // namespace zsetd
