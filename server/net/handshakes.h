#pragma once

#include <deque>
#include <memory>

#include "core/util/time.h"

namespace zsetd {

class Session;

// The connections whose TLS handshake may last until a deadline. Without this limit a client that
// never completes the handshake would be kept forever, because `timeout` is 0 by default.
class Handshakes {
 public:
  // The session has started its handshake. Times are of MonotonicNow().
  void Add(std::weak_ptr<Session> session, Micros now);

  // Closes the sessions that have not completed their handshake in time. O(sessions that are due).
  void CloseLate(Micros now);

 private:
  struct Handshake {
    Micros until;
    std::weak_ptr<Session> session;
  };

  std::deque<Handshake> by_deadline_;  // all have the same time, so the first is due first
};

}  // namespace zsetd
