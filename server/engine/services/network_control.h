#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "core/util/time.h"

namespace zsetd {

struct Settings;

// The threads that serve clients, and the lock by which they take turns with the engine. Counts and
// times are since the start or since CONFIG RESETSTAT.
struct NetworkStatus {
  struct Thread {
    size_t clients = 0;
    uint64_t requests = 0;
    uint64_t reads = 0;  // from the network
    uint64_t writes = 0;
    Micros busy{0};  // without waits for events and for the lock
  };
  struct Lock {
    Micros held{0};
    Micros waited{0};
    uint64_t waits = 0;
    Micros longest_hold{0};
    Micros longest_wait{0};
    Micros wait_p999{0};  // within which 99.9 % of the waits stayed
  };

  // Turns in which threads shared the engine.
  struct SharedTurns {
    uint64_t turns = 0;
    uint64_t requests = 0;
    Micros held{0};  // the sum over threads
    Micros waited{0};
    uint64_t waits = 0;
    Micros longest_hold{0};
    Micros longest_wait{0};

    void Add(const SharedTurns& other);
  };

  std::vector<Thread> threads;
  Lock lock;  // turns alone
  SharedTurns shared;
};

inline void NetworkStatus::SharedTurns::Add(const SharedTurns& other) {
  turns += other.turns;
  requests += other.requests;
  held += other.held;
  waited += other.waited;
  waits += other.waits;
  longest_hold = std::max(longest_hold, other.longest_hold);
  longest_wait = std::max(longest_wait, other.longest_wait);
}

// Controls the server's network.
class NetworkControl {
 public:
  virtual ~NetworkControl() = default;

  // Must be called before the settings change to these. Listens on other addresses, and reads the
  // TLS files again. The error has a human-readable reason; nothing has changed then.
  virtual absl::Status Apply(const Settings& settings) = 0;

  // Requests a clean end of the server: the requests that have arrived are run, and their replies
  // are sent. After a second call, the server no longer waits for clients.
  virtual void AskToStop() = 0;

  // O(threads).
  virtual NetworkStatus network_status() const = 0;
  virtual void ResetStats() = 0;
};

}  // namespace zsetd
