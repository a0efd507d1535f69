#pragma once

#include <cstddef>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "core/util/time.h"
#include "server/net/socket/poller.h"
#include "server/net/socket/socket.h"

namespace zsetd {

// Closes connections so that the other sides receive everything that was sent. Linux resets a
// connection that is closed while input is unread, and discards output that is in transit.
// Therefore only our half is closed at first, and input is discarded until the other side closes
// its half. This ends after one second, or the time set by `set_patience()`, or after 16 MB.
//
// It is used in the engine only, except that connections take part in the rounds of their thread.
class LingeringCloses {
 public:
  // `poller` outlives it.
  explicit LingeringCloses(Poller& poller) : poller_(poller) {}
  LingeringCloses(const LingeringCloses&) = delete;
  ~LingeringCloses();

  // Takes over the connection, which must not be registered with the poller.
  void Close(Socket socket);

  // The number of connections that are not closed yet.
  size_t count() const { return rests_.size(); }

  // Closes the connections whose time limit has passed. Must be called often. `now` is monotonic
  // time. O(connections).
  void CloseLate(Micros now);

  // Sets the time limit for connections that are closed from now on.
  void set_patience(Millis patience) { patience_ = patience; }

  // Used at the end of the server: returns whether each of the other sides has acknowledged all
  // output and has stopped sending. Closing then resets no connection. `now` is monotonic time.
  bool AreSettled(Micros now) const;

 private:
  class Rest;

  Poller& poller_;
  Millis patience_{1000};
  absl::flat_hash_set<std::shared_ptr<Rest>> rests_;
};

}  // namespace zsetd
