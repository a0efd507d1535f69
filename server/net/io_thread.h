#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/metrics/network_counters.h"
#include "server/engine/port/request_port.h"
#include "server/engine/services/network_control.h"
#include "server/net/engine_gate.h"
#include "server/net/handshakes.h"
#include "server/net/lingering_close.h"
#include "server/net/socket/poller.h"

namespace zsetd {

// One of the threads that serve clients: a poller, the connections that belong to it, and the
// thread's turns with the engine.
//
//   Wait, Receive │ EnterShared ─ requests that  │ Enter ─ all other ─ Leave │ Send
//                 │ only read ─ LeaveShared      │           requests        │
//                 │ several threads at a time    │ one thread at a time      │
//
// The shared turn also prefetches for the first of the other requests, so that cache misses do not
// lengthen the turn alone. With one thread there are no shared turns.
//
// A connection belongs to one thread for its whole life. The thread that runs the server is an
// object of this class, too; the others are started by Start().
class IoThread {
 public:
  // `number` is 0 for the main thread. `before_leaving` is called each time before the thread
  // leaves the engine. `now` is monotonic time. The engine and the gate outlive this.
  IoThread(int number, Engine& engine, EngineGate& gate,
           std::function<void(Micros now)> before_leaving);
  IoThread(const IoThread&) = delete;
  ~IoThread();

  // Starts a thread that runs rounds until Stop(). The calling thread must not be in the engine.
  absl::Status Start();
  void Stop();

  // Runs a round on the calling thread (Poller::RunRound).
  bool RunRound(Micros longest);

  // When the last round ended, in monotonic time.
  Micros round_ended() const { return round_ended_; }

  // Waits for a turn alone with the engine, and ends it.
  void Enter() ABSL_EXCLUSIVE_LOCK_FUNCTION(gate_.lock());
  void Leave() ABSL_UNLOCK_FUNCTION(gate_.lock());

  // In a turn alone: gives other threads their turns, if they have waited for long enough. Returns
  // whether it did: the engine may have changed.
  bool PassOn() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!gate_.IsTurnOver()) [[likely]]
      return false;
    Leave();
    Enter();
    return true;
  }

  // Like PassOn(), in a shared turn. kEnded: requests must run alone now, and the turn has ended.
  enum class Passed : uint8_t { kNo, kYes, kEnded };
  Passed PassOnShared() {
    if (!gate_.IsTurnOver(turn_)) [[likely]]
      return Passed::kNo;
    LeaveShared();
    return EnterShared() ? Passed::kYes : Passed::kEnded;
  }

  int number() const { return number_; }

  // The parts of the thread that its connections use.
  Poller& poller() { return poller_; }
  RequestPort& port() { return port_; }
  NetworkCounters& counters() { return counters_; }  // outside of the engine
  LingeringCloses& closes() { return closes_; }

  // The connection has taken replies, and sends them in this round.
  void AddReplies(size_t bytes) {
    sending_.store(sending_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  // --- For any thread that is in the engine. ---

  Handshakes& handshakes() { return handshakes_; }
  const LingeringCloses& closes() const { return closes_; }
  void AddConnection() { ++connections_; }
  void RemoveConnection() { --connections_; }
  size_t connections() const { return connections_; }
  NetworkStatus::Thread Status() const;
  NetworkStatus::SharedTurns SharedStatus() const;
  void ResetStats();

 private:
  RoundHooks MakeHooks();
  void Run();
  bool Share(RoundHooks::Connections ready) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  bool EnterShared() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void LeaveShared() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void AdvanceTime() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void NoteSharedTurn(Micros waited);
  void Count();
  void CloseLate(Micros now);

  const int number_;
  Engine& engine_;
  EngineGate& gate_;
  const std::function<void(Micros)> before_leaving_;
  Poller poller_;
  RequestPort port_;
  LingeringCloses closes_{poller_};
  const RoundHooks hooks_;
  Handshakes handshakes_;
  size_t connections_ = 0;
  NetworkStatus::Thread totals_;  // up to the last turn alone
  EngineLock::SharedTurn turn_;
  NetworkStatus::SharedTurns shared_;
  Micros next_check_{0};

  // Counted outside of the engine, since the last turn alone.
  NetworkCounters counters_;
  uint64_t rounds_ = 0;
  Micros rounds_took_{0};
  Micros rounds_waited_{0};

  std::atomic<size_t> sending_ = 0;  // bytes of replies of this round, until it ends
  Micros round_ended_{0};
  Micros waited_{0};  // for the engine, since the last round began
  std::atomic<bool> stops_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace zsetd
