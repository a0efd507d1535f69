#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "core/util/time.h"
#include "server/engine/support/latency_histogram.h"
#include "server/net/socket/mutex.h"

namespace zsetd {

// Admits to the engine either one thread alone, or several threads that only read, in the order of
// arrival.
//
//            Lock                  others arrive
//    free ─────────► alone ───────────────────────► alone, with a queue
//     │ ▲              │ ▲                                 │
//     │ └── Unlock ────┘ │ TryUpgrade, Downgrade           │ Unlock: to the first in the queue,
//     │                  ▼                                 ▼ or to all readers at its front
//     └─────────► shared by n ────────────────────► shared by n, with a queue
//      LockShared              a thread calls Lock
//
// The lock never becomes free while a thread waits, and readers do not join while a queue exists.
// So no thread overtakes another one. A thread with much to do asks IsTurnOver() between two pieces
// of work; if it is, it unlocks and locks again. So a wait lasts at most one turn and one piece of
// work for each of the other threads.
//
// A waiting thread spins for up to 20 us, because most turns of clients that do not pipeline are
// shorter, and then sleeps. If spinning has not helped recently, it sleeps immediately, except that
// one wait in 16 tries again.
//
// Without other threads, each function is one atomic operation and one reading of the clock.
class ABSL_LOCKABLE EngineLock {
 public:
  // While other threads wait, a turn lasts this time.
  static constexpr Micros kTurn{100};

  // Counts and times of all turns alone, since the start or the last ResetStats().
  struct Stats {
    Micros held{0};
    Micros waited{0};
    uint64_t waits = 0;  // Lock() calls that did not find the lock free
    Micros longest_hold{0};
    Micros longest_wait{0};
    LatencyHistogram wait_times;  // of the waits
  };

  // The turn of one of the threads that share the lock.
  struct SharedTurn {
    Micros began{0};  // monotonic time
    Micros waited{0};
  };

  EngineLock() = default;
  EngineLock(const EngineLock&) = delete;

  // Returns the time for which the thread waited. The thread must not hold the lock.
  Micros Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Must be called by the thread that is alone. `now` is monotonic time.
  void Unlock(Micros now) ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // The thread must not hold the lock.
  SharedTurn LockShared() ABSL_SHARED_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Must be called by a thread that shares the lock.
  void UnlockShared() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Makes a thread that shares the lock the only one, if no other thread shares it or waits.
  // Returns false, and changes nothing, otherwise.
  bool TryUpgrade() ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Makes the thread that is alone share the lock with the readers at the front of the queue. `now`
  // is monotonic time.
  SharedTurn Downgrade(Micros now) ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Whether another thread waits.
  bool IsContended() const { return (state_.load(std::memory_order_relaxed) & kQueue) != 0; }

  // Whether a thread that shares the lock should unlock it, because a thread waits to be alone.
  bool IsTurnOver(const SharedTurn& turn) const;

  // --- For the thread that is alone. ---

  // Asserts that a thread is alone. For clang's analysis it is the calling one.
  void AssertAlone() const ABSL_ASSERT_EXCLUSIVE_LOCK(this) {
    assert((state_.load(std::memory_order_relaxed) & kAlone) != 0);
  }

  bool IsTurnOver() const ABSL_SHARED_LOCKS_REQUIRED(this);
  Micros locked_at() const ABSL_SHARED_LOCKS_REQUIRED(this) { return locked_at_; }  // monotonic
  const Stats& stats() const ABSL_SHARED_LOCKS_REQUIRED(this) { return stats_; }
  void ResetStats() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) { stats_ = {}; }

 private:
  // `state_`: one of the first two, or the number of threads that share the lock; and kQueue.
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kAlone = 1u << 30;
  static constexpr uint32_t kQueue = 1u << 31;

  // A thread in the queue, on its stack.
  class Waiter {
   public:
    explicit Waiter(bool reads) : is_reader(reads) {}

    // Waits for Grant(). Returns whether it was called while this spun.
    bool Await(bool spins);
    void Grant();

    const bool is_reader;
    Waiter* next = nullptr;

   private:
    enum : uint32_t { kWaits, kSleeps, kGranted };

    bool Spin() const;

    std::atomic<uint32_t> state_ = kWaits;
  };

  bool TryLock();
  bool TryLockShared();
  bool Enqueue(Waiter& self);
  Micros LockInTurn() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  SharedTurn LockSharedInTurn() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void Wait(Waiter& self);
  void RecordHold(Micros now) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void PassOn();
  uint32_t TakeReaders(Waiter*& readers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_mutex_);
  void SetHolders(uint32_t holders) ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_mutex_);
  static void GrantAll(Waiter* first);

  std::atomic<uint32_t> state_ = kFree;
  std::atomic<int> spin_credit_ = 16;  // rises if spinning helps, and falls if it does not
  std::atomic<uint32_t> unspun_ = 0;   // waits without spinning
  Mutex queue_mutex_;                  // held for some instructions
  Waiter* first_ ABSL_GUARDED_BY(queue_mutex_) = nullptr;
  Waiter* last_ ABSL_GUARDED_BY(queue_mutex_) = nullptr;
  Micros locked_at_ ABSL_GUARDED_BY(this){0};
  Stats stats_ ABSL_GUARDED_BY(this);
};

}  // namespace zsetd
