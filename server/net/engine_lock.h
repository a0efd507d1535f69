#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/util/time.h"
#include "server/engine/support/latency_histogram.h"

namespace zsetd {

// Admits one thread at a time to the engine, in the order of arrival.
//
//          Lock                Lock of others
//   free ────────► held ─────────────────────────► held, with a queue
//     ↑              │                                   │
//     └── Unlock ────┘        Unlock: the lock passes to the first in the queue
//
// The lock never becomes free while a thread waits, so no thread overtakes another one. A waiting
// thread spins for 20 us, because most turns are shorter, and then sleeps. A thread with much to do
// asks IsTurnOver() between two pieces of work; if it is, it unlocks and locks again. So a wait
// lasts at most one turn and one piece of work for each of the other threads.
//
// Without other threads, Lock() and Unlock() are one atomic operation and one reading of the clock
// each.
class EngineLock {
 public:
  // While other threads wait, a turn lasts this time.
  static constexpr Micros kTurn{100};

  // Counts and times of all threads since the start or the last ResetStats().
  struct Stats {
    Micros held{0};
    Micros waited{0};
    uint64_t waits = 0;  // Lock() calls that did not find the lock free
    Micros longest_hold{0};
    Micros longest_wait{0};
    LatencyHistogram wait_times;  // of the waits
  };

  EngineLock() = default;
  EngineLock(const EngineLock&) = delete;

  // Returns the time for which the thread waited. The thread must not hold the lock.
  Micros Lock();

  // Must be called by the thread that holds the lock. `now` is monotonic time.
  void Unlock(Micros now);

  // Whether another thread waits.
  bool IsContended() const { return state_.load(std::memory_order_relaxed) == kQueue; }

  // --- For the thread that holds the lock. ---

  bool IsTurnOver() const;
  Micros locked_at() const { return locked_at_; }  // monotonic time
  const Stats& stats() const { return stats_; }
  void ResetStats() { stats_ = {}; }

 private:
  enum State : uint32_t { kFree, kHeld, kQueue };

  // A thread in the queue, on its stack.
  class Waiter {
   public:
    void Await();
    void Grant();

    Waiter* next = nullptr;

   private:
    enum : uint32_t { kWaits, kSleeps, kGranted };

    bool Spin() const;

    std::atomic<uint32_t> state_ = kWaits;
  };

  bool TryLock();
  bool Enqueue(Waiter& self);
  Micros LockInTurn();

  std::atomic<uint32_t> state_ = kFree;
  std::mutex queue_mutex_;   // held for some instructions
  Waiter* first_ = nullptr;  // guarded by `queue_mutex_`, as the next
  Waiter* last_ = nullptr;
  Micros locked_at_{0};  // guarded by the lock itself, as the next
  Stats stats_;
};

}  // namespace zsetd
