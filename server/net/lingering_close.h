#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "core/util/time.h"
#include "server/net/poller.h"
#include "server/net/socket.h"

namespace zsetd {

// Closes connections so that the other sides receive everything that was sent. Linux resets a
// connection that is closed while input is unread, and discards output that is still in transit. So
// only our half is closed at first, and input is discarded until the other side closes its own, for
// at most a second, or the time that is set, and 16 MB.
class LingeringCloses {
 public:
  // `poller` outlives it.
  LingeringCloses(Poller& poller, boost::asio::any_io_executor executor)
      : poller_(poller), executor_(std::move(executor)) {}
  LingeringCloses(const LingeringCloses&) = delete;
  ~LingeringCloses();

  // Takes the connection, which is not registered with the poller any more.
  void Close(Socket socket);

  // The time for connections that are closed from now on.
  void set_patience(Millis patience) { patience_ = patience; }

  // At the end of the server: whether each other side has acknowledged all that was sent, and sends
  // nothing more. Closing resets no connection then. `now` is of the monotonic clock.
  bool AreSettled(Micros now) const;

 private:
  class Rest;

  Poller& poller_;
  boost::asio::any_io_executor executor_;
  Millis patience_{1000};
  absl::flat_hash_set<std::shared_ptr<Rest>> rests_;
};

}  // namespace zsetd
