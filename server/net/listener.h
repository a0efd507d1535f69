#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "server/engine/support/log.h"
#include "server/net/socket/poller.h"
#include "server/net/socket/stream_socket.h"

namespace zsetd {

// Accepts connections on one address or one Unix socket, and passes them to a callback. Continues
// after a failure to accept, such as too many open files. Connections are accepted on the poller's
// thread; any thread that is in the engine may start and stop it.
class Listener : public Polled, public std::enable_shared_from_this<Listener> {
 public:
  // `io`, `poller` and `log` outlive this.
  Listener(boost::asio::io_context& io, Poller& poller, const Log& log,
           std::function<void(StreamSocket)> on_connection);

  // Binds and starts to accept connections.
  boost::system::error_code Listen(const StreamEndpoint& endpoint, int backlog);

  // Like `Listen()`, but on a Unix socket. The socket file gets these permissions before any client
  // can connect; 0 leaves them to the process's umask. Replaces a file to which no process listens;
  // the error is address_in_use if one does.
  boost::system::error_code ListenAt(const std::string& path, mode_t permissions, int backlog);

  // Accepts pending connections, then closes.
  void Stop();

 private:
  void NeverBlock(boost::system::error_code& error);
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Receive() override {}
  void Serve() override;
  void Send() override {}
  void PauseAfterFailure();
  void Await();
  boost::system::error_code AcceptWaiting();
  boost::system::error_code AcceptOne();
  boost::system::error_code Begin(int backlog);

  Poller& poller_;
  const Log& log_;
  StreamAcceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::function<void(StreamSocket)> on_connection_;
  std::string path_;  // of the Unix socket; removed by Stop()
};

}  // namespace zsetd
