#pragma once

#include <cstdint>

#include "absl/container/btree_map.h"
#include "core/util/time.h"

namespace zsetd {

class Session;

// The connections whose TLS handshake may last until a deadline. Without this limit a client that
// never completes the handshake would be kept forever, because `timeout` is 0 by default.
class Handshakes {
 public:
  // The session has started its handshake. It must be removed before it is destroyed. IDs of
  // clients and times, which are of MonotonicNow(), ascend from call to call. O(log sessions).
  void Add(uint64_t client_id, Session& session, Micros now);

  // The session has ended. Does nothing if it is not known. O(log sessions).
  void Remove(uint64_t client_id) { by_id_.erase(client_id); }

  // Closes the sessions that have not completed their handshake in time, and forgets those that
  // have. O(sessions that are due).
  void CloseLate(Micros now);

 private:
  struct Handshake {
    Micros until;
    Session* session;
  };

  // All handshakes have the same time, so the client with the lowest ID is due first.
  absl::btree_map<uint64_t, Handshake> by_id_;
};

}  // namespace zsetd
