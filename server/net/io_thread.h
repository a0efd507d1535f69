#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>

#include "core/util/time.h"
#include "server/engine/engine.h"
#include "server/engine/metrics/network_counters.h"
#include "server/engine/request_port.h"
#include "server/engine/services/network_control.h"
#include "server/net/engine_gate.h"
#include "server/net/handshakes.h"
#include "server/net/lingering_close.h"
#include "server/net/socket/poller.h"

namespace zsetd {

// One of the threads that serve clients: a poller, the connections that belong to it, and the
// thread's turns with the engine.
//
//   Wait, Receive │ Enter ─ Announce, Serve, Collect ─ Leave │ Send
//                 │        one thread at a time              │
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
  void Start();
  void Stop();

  // Runs a round on the calling thread (Poller::RunRound).
  bool RunRound(Micros longest);

  // When the last round ended, in monotonic time.
  Micros round_ended() const { return round_ended_; }

  // Waits for a turn with the engine, and ends it.
  void Enter();
  void Leave();

  // Gives other threads their turns, if they have waited for long enough. Returns whether it did:
  // the engine may have changed.
  bool PassOn() {
    if (!gate_.IsTurnOver()) [[likely]]
      return false;
    Leave();
    Enter();
    return true;
  }

  int number() const { return number_; }

  // The parts of the thread that its connections use.
  Poller& poller() { return poller_; }
  RequestPort& port() { return port_; }
  NetworkCounters& counters() { return counters_; }  // outside of the engine
  LingeringCloses& closes() { return closes_; }

  // --- For any thread that is in the engine. ---

  Handshakes& handshakes() { return handshakes_; }
  const LingeringCloses& closes() const { return closes_; }
  void AddConnection() { ++connections_; }
  void RemoveConnection() { --connections_; }
  size_t connections() const { return connections_; }
  NetworkStatus::Thread Status() const;
  void ResetStats();

 private:
  void Run();
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
  NetworkStatus::Thread totals_;  // up to the last turn
  Micros next_check_{0};

  // Counted outside of the engine, since the last turn.
  NetworkCounters counters_;
  Micros round_took_{0};
  bool has_run_round_ = false;

  Micros round_ended_{0};
  Micros waited_{0};  // for the engine, since the last round began
  Micros round_waited_{0};
  std::atomic<bool> stops_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace zsetd
