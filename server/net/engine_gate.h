#pragma once

#include <vector>

#include "core/util/time.h"
#include "server/net/engine_lock.h"
#include "server/net/socket/wake_signal.h"

namespace zsetd {

// The way of all threads into the engine: its lock, and the signals for other threads, which are
// sent when the lock is released, so that a woken thread finds it free.
class EngineGate {
 public:
  EngineGate() = default;
  EngineGate(const EngineGate&) = delete;

  // Returns the time for which the thread waited.
  Micros Enter() { return lock_.Lock(); }

  // `now` is monotonic time.
  void Leave(Micros now);

  // --- For the thread that is in the engine. ---

  // Whether the thread should leave, between two requests, because others have waited for a turn.
  bool IsTurnOver() const { return lock_.IsTurnOver(); }

  // Sends the signal, which outlives this, when the thread leaves.
  void SendOnLeaving(const WakeSignal& signal) { signals_.push_back(&signal); }

  EngineLock& lock() { return lock_; }
  const EngineLock& lock() const { return lock_; }

 private:
  EngineLock lock_;
  std::vector<const WakeSignal*> signals_;  // guarded by `lock_`
};

}  // namespace zsetd
