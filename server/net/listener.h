#pragma once

#include <sys/types.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

#include "server/net/stream_socket.h"

namespace zsetd {

// Accepts connections on one address, or on one unix socket, and hands them on. Goes on after a
// failure to accept, such as too many open files.
class Listener {
 public:
  Listener(boost::asio::io_context& io, std::function<void(StreamSocket)> on_connection);

  // Binds and starts to accept.
  boost::system::error_code Listen(const StreamEndpoint& endpoint, int backlog);

  // The same on a unix socket, whose file gets these permissions before anybody can connect; 0:
  // what the process may give. A file that is there already goes.
  boost::system::error_code ListenAt(const std::string& path, mode_t permissions, int backlog);

  // Hands on those who have connected already, then closes.
  void Stop();

 private:
  void NeverBlock(boost::system::error_code& error);
  boost::asio::awaitable<void> Accept();
  boost::system::error_code AcceptWaiting();
  boost::system::error_code AcceptOne();

  boost::system::error_code Begin(int backlog);

  StreamAcceptor acceptor_;
  std::function<void(StreamSocket)> on_connection_;
  std::string path_;  // of the unix socket, to be removed in the end
};

}  // namespace zsetd
