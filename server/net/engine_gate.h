#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/util/time.h"
#include "server/net/engine_lock.h"
#include "server/net/socket/wake_signal.h"

namespace zsetd {

// The way of all threads into the engine: its lock, and the signals for other threads, which are
// sent when the lock is released, so that a woken thread finds it free.
class EngineGate {
 public:
  // `outside`, unless null, is called before each turn begins and after it has ended. Tests run
  // rounds of other threads there, and so choose an order of the turns.
  explicit EngineGate(std::function<void()> outside = nullptr) : outside_(std::move(outside)) {}
  EngineGate(const EngineGate&) = delete;

  // Begins a turn alone. Returns the time for which the thread waited.
  Micros Enter() ABSL_EXCLUSIVE_LOCK_FUNCTION(lock_) {
    if (outside_) [[unlikely]]
      outside_();
    return lock_.Lock();
  }

  // Ends it. `now` is monotonic time.
  void Leave(Micros now) ABSL_UNLOCK_FUNCTION(lock_);

  // Begins and ends a shared turn.
  EngineLock::SharedTurn EnterShared() ABSL_SHARED_LOCK_FUNCTION(lock_) {
    if (outside_) [[unlikely]]
      outside_();
    return lock_.LockShared();
  }
  void LeaveShared() ABSL_UNLOCK_FUNCTION(lock_) {
    lock_.UnlockShared();
    if (outside_) [[unlikely]]
      outside_();
  }

  // Whether a thread that shares the engine should leave, between two requests.
  bool IsTurnOver(const EngineLock::SharedTurn& turn) const { return lock_.IsTurnOver(turn); }

  // Turns a shared turn into one alone, if no other thread shares the engine or waits; and a turn
  // alone into a shared one.
  bool TryUpgrade() { return lock_.TryUpgrade(); }
  EngineLock::SharedTurn Downgrade(Micros now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);

  // --- For the thread that is alone in the engine. ---

  // Whether the thread should leave, between two requests, because others have waited for a turn.
  bool IsTurnOver() const ABSL_SHARED_LOCKS_REQUIRED(lock_) { return lock_.IsTurnOver(); }

  // Sends the signal, which outlives this, when the turn alone ends.
  void SendOnLeaving(const WakeSignal& signal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_) {
    signals_.push_back(&signal);
  }

  EngineLock& lock() ABSL_LOCK_RETURNED(lock_) { return lock_; }
  const EngineLock& lock() const ABSL_LOCK_RETURNED(lock_) { return lock_; }

 private:
  void Unlock(Micros now) ABSL_UNLOCK_FUNCTION(lock_);

  const std::function<void()> outside_;
  EngineLock lock_;
  std::vector<const WakeSignal*> signals_ ABSL_GUARDED_BY(lock_);
};

}  // namespace zsetd
