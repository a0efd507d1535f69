#include "server/net/engine_lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>

#include "server/process/clock.h"

namespace zsetd {
namespace {

constexpr Micros kSpinTime{20};
constexpr int kPausesBetweenClocks = 32;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The system wakes at most one thread, which waits for this address.
void FutexWake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// Returns when the thread is woken, is interrupted, or the word has another value.
void FutexWait(std::atomic<uint32_t>& word, uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

}  // namespace

bool EngineLock::Waiter::Spin() const {
  const Micros until = MonotonicNow() + kSpinTime;
  do {
    for (int i = 0; i < kPausesBetweenClocks; ++i) {
      if (state_.load(std::memory_order_acquire) == kGranted) return true;
      Pause();
    }
  } while (MonotonicNow() < until);
  return false;
}

void EngineLock::Waiter::Await() {
  if (Spin()) return;
  uint32_t state = kWaits;
  if (!state_.compare_exchange_strong(state, kSleeps)) return;  // granted
  while (state_.load(std::memory_order_acquire) == kSleeps) FutexWait(state_, kSleeps);
}

// After the exchange the waiter may have left, and its memory may be reused. The system call then
// wakes a thread that waits at the same address for another reason, which tolerates that.
void EngineLock::Waiter::Grant() {
  if (state_.exchange(kGranted, std::memory_order_acq_rel) == kSleeps) FutexWake(state_);
}

bool EngineLock::TryLock() {
  uint32_t state = kFree;
  return state_.compare_exchange_strong(state, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed);
}

Micros EngineLock::Lock() {
  Micros waited{0};
  if (TryLock()) [[likely]] {
    locked_at_ = MonotonicNow();
    return waited;
  }
  return LockInTurn();
}

Micros EngineLock::LockInTurn() {
  const Micros began = MonotonicNow();
  Waiter self;
  if (Enqueue(self)) self.Await();
  locked_at_ = MonotonicNow();
  const Micros waited = locked_at_ - began;
  ++stats_.waits;
  stats_.waited += waited;
  stats_.longest_wait = std::max(stats_.longest_wait, waited);
  stats_.wait_times.Record(waited);
  return waited;
}

// Returns false if the lock was free in the meantime; the calling thread holds it then.
bool EngineLock::Enqueue(Waiter& self) {
  const std::lock_guard guard(queue_mutex_);
  uint32_t state = state_.load(std::memory_order_relaxed);
  while (state != kQueue) {
    const uint32_t next = state == kFree ? kHeld : kQueue;
    if (!state_.compare_exchange_weak(state, next, std::memory_order_acquire)) continue;
    if (state == kFree) return false;
    break;
  }
  (first_ == nullptr ? first_ : last_->next) = &self;
  last_ = &self;
  return true;
}

void EngineLock::Unlock(Micros now) {
  const Micros held = now - locked_at_;
  stats_.held += held;
  stats_.longest_hold = std::max(stats_.longest_hold, held);
  uint32_t state = kHeld;
  if (state_.compare_exchange_strong(state, kFree, std::memory_order_release)) [[likely]]
    return;
  assert(state == kQueue);
  Waiter* next;
  {
    const std::lock_guard guard(queue_mutex_);
    next = first_;
    assert(next != nullptr);
    first_ = next->next;
    if (first_ == nullptr) state_.store(kHeld, std::memory_order_relaxed);
  }
  next->Grant();
}

bool EngineLock::IsTurnOver() const {
  return IsContended() && MonotonicNow() - locked_at_ >= kTurn;
}

}  // namespace zsetd
