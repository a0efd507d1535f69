#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "server/net/poller.h"
#include "server/net/stream_socket.h"

namespace zsetd {

// Accepts connections on one address, or on one unix socket, and hands them on. Goes on after a
// failure to accept, such as too many open files.
class Listener : public Polled, public std::enable_shared_from_this<Listener> {
 public:
  Listener(boost::asio::io_context& io, Poller& poller,
           std::function<void(StreamSocket)> on_connection);

  // Binds and starts to accept.
  boost::system::error_code Listen(const StreamEndpoint& endpoint, int backlog);

  // Like the function above, on a Unix socket. Its file gets these permissions before any client
  // can connect; 0: the process's umask. An existing file is removed.
  boost::system::error_code ListenAt(const std::string& path, mode_t permissions, int backlog);

  // Accepts pending connections, then closes.
  void Stop();

 private:
  void NeverBlock(boost::system::error_code& error);
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Receive() override {}
  void Serve() override;
  void Send() override {}
  void ClientPause();
  void Await();
  boost::system::error_code AcceptWaiting();
  boost::system::error_code AcceptOne();
  boost::system::error_code Begin(int backlog);

  Poller& poller_;
  StreamAcceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::function<void(StreamSocket)> on_connection_;
  std::string path_;  // of the unix socket, to be removed in the end
};

}  // namespace zsetd
