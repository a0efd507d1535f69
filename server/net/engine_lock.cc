#include "server/net/engine_lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "server/process/clock.h"

namespace zsetd {
namespace {

constexpr Micros kSpinTime{20};
constexpr int kPausesBetweenClocks = 32;
constexpr int kMostCredit = 16;
constexpr uint32_t kUnspunUntilTrial = 16;

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

bool EngineLock::Waiter::Await(bool spins) {
  if (spins && Spin()) return true;
  uint32_t state = kWaits;
  if (!state_.compare_exchange_strong(state, kSleeps)) return spins;  // granted
  while (state_.load(std::memory_order_acquire) == kSleeps) FutexWait(state_, kSleeps);
  return false;
}

// After the exchange the waiter may have left, and its memory may be reused. The system call then
// wakes a thread that waits at the same address for another reason, which tolerates that.
void EngineLock::Waiter::Grant() {
  if (state_.exchange(kGranted, std::memory_order_acq_rel) == kSleeps) FutexWake(state_);
}

bool EngineLock::TryLock() {
  uint32_t state = kFree;
  return state_.compare_exchange_strong(state, kAlone, std::memory_order_acquire,
                                        std::memory_order_relaxed);
}

bool EngineLock::TryLockShared() {
  uint32_t state = state_.load(std::memory_order_relaxed);
  while ((state & (kAlone | kQueue)) == 0) {
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

Micros EngineLock::Lock() {
  if (TryLock()) [[likely]] {
    locked_at_ = MonotonicNow();
    return Micros(0);
  }
  return LockInTurn();
}

Micros EngineLock::LockInTurn() {
  const Micros began = MonotonicNow();
  Waiter self(/*reads=*/false);
  Wait(self);
  locked_at_ = MonotonicNow();
  const Micros waited = locked_at_ - began;
  ++stats_.waits;
  stats_.waited += waited;
  stats_.longest_wait = std::max(stats_.longest_wait, waited);
  stats_.wait_times.Record(waited);
  return waited;
}

EngineLock::SharedTurn EngineLock::LockShared() {
  if (TryLockShared()) [[likely]]
    return {.began = MonotonicNow()};
  return LockSharedInTurn();
}

EngineLock::SharedTurn EngineLock::LockSharedInTurn() {
  const Micros began = MonotonicNow();
  Waiter self(/*reads=*/true);
  Wait(self);
  const Micros now = MonotonicNow();
  return {.began = now, .waited = now - began};
}

// Several threads may change the credit at the same time; a lost change does no harm.
void EngineLock::Wait(Waiter& self) {
  if (!Enqueue(self)) return;
  const int credit = spin_credit_.load(std::memory_order_relaxed);
  const bool is_trial =
      credit <= 0 && unspun_.fetch_add(1, std::memory_order_relaxed) % kUnspunUntilTrial == 0;
  const bool spins = credit > 0 || is_trial;
  const bool helped = self.Await(spins);
  if (!spins || (helped && credit >= kMostCredit)) return;
  spin_credit_.store(helped ? std::max(credit, 0) + 2 : credit - 1, std::memory_order_relaxed);
}

// Returns false if the thread could lock without waiting.
bool EngineLock::Enqueue(Waiter& self) {
  const MutexLock guard(queue_mutex_);
  uint32_t state = state_.load(std::memory_order_relaxed);
  while ((state & kQueue) == 0) {
    const bool may_enter = self.is_reader ? (state & kAlone) == 0 : state == kFree;
    const uint32_t entered = self.is_reader ? state + 1 : kAlone;
    if (!state_.compare_exchange_weak(state, may_enter ? entered : state | kQueue,
                                      std::memory_order_acquire, std::memory_order_relaxed)) {
      continue;
    }
    if (may_enter) return false;
    break;
  }
  (first_ == nullptr ? first_ : last_->next) = &self;
  last_ = &self;
  return true;
}

void EngineLock::RecordHold(Micros now) {
  const Micros held = now - locked_at_;
  stats_.held += held;
  stats_.longest_hold = std::max(stats_.longest_hold, held);
}

void EngineLock::Unlock(Micros now) {
  RecordHold(now);
  uint32_t state = kAlone;
  if (state_.compare_exchange_strong(state, kFree, std::memory_order_release,
                                     std::memory_order_relaxed)) [[likely]] {
    return;
  }
  assert(state == (kAlone | kQueue));
  PassOn();
}

// While a queue exists no reader joins, so the last one passes the lock on.
void EngineLock::UnlockShared() {
  const uint32_t before = state_.fetch_sub(1, std::memory_order_acq_rel);
  assert((before & kAlone) == 0 && (before & ~kQueue) > 0);
  if (before == (kQueue | 1)) PassOn();
}

bool EngineLock::TryUpgrade() {
  uint32_t state = 1;
  if (!state_.compare_exchange_strong(state, kAlone, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
    return false;
  }
  locked_at_ = MonotonicNow();
  return true;
}

EngineLock::SharedTurn EngineLock::Downgrade(Micros now) {
  RecordHold(now);
  uint32_t state = kAlone;
  if (!state_.compare_exchange_strong(state, 1, std::memory_order_release,
                                      std::memory_order_relaxed)) {
    assert(state == (kAlone | kQueue));
    Waiter* readers = nullptr;
    {
      const MutexLock guard(queue_mutex_);
      SetHolders(1 + TakeReaders(readers));
    }
    GrantAll(readers);
  }
  return {.began = now};
}

// Passes the lock, which no thread holds any more, to the front of the queue.
void EngineLock::PassOn() {
  Waiter* granted = nullptr;
  {
    const MutexLock guard(queue_mutex_);
    assert(first_ != nullptr);
    const uint32_t readers = TakeReaders(granted);
    if (readers == 0) {
      granted = first_;
      first_ = first_->next;
      granted->next = nullptr;
    }
    SetHolders(readers == 0 ? kAlone : readers);
  }
  GrantAll(granted);
}

// Takes the readers at the front of the queue as a list, and returns their number.
uint32_t EngineLock::TakeReaders(Waiter*& readers) {
  uint32_t count = 0;
  Waiter* last_taken = nullptr;
  readers = first_;
  for (; first_ != nullptr && first_->is_reader; first_ = first_->next) {
    last_taken = first_;
    ++count;
  }
  if (last_taken == nullptr) {
    readers = nullptr;
  } else {
    last_taken->next = nullptr;
  }
  return count;
}

// While a queue exists, only the thread that passes the lock on changes the state.
void EngineLock::SetHolders(uint32_t holders) {
  state_.store(holders | (first_ != nullptr ? kQueue : 0), std::memory_order_release);
}

// A waiter that has been granted the lock may be gone.
void EngineLock::GrantAll(Waiter* first) {
  while (first != nullptr) {
    Waiter* const waiter = std::exchange(first, first->next);
    waiter->Grant();
  }
}

bool EngineLock::IsTurnOver(const SharedTurn& turn) const {
  return IsContended() && MonotonicNow() - turn.began >= kTurn;
}

bool EngineLock::IsTurnOver() const {
  return IsContended() && MonotonicNow() - locked_at_ >= kTurn;
}

}  // namespace zsetd
