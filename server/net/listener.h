#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>

namespace zsetd {

// Accepts connections on one address and hands them on. Goes on after a failure to accept, such as
// too many open files.
class Listener {
 public:
  using Tcp = boost::asio::ip::tcp;

  Listener(boost::asio::io_context& io, std::function<void(Tcp::socket)> on_connection);

  // Binds and starts to accept.
  boost::system::error_code Listen(const Tcp::endpoint& endpoint, int backlog);

  // Hands on those who have connected already, then closes.
  void Stop();

 private:
  void NeverBlock(boost::system::error_code& error);
  boost::asio::awaitable<void> Accept();
  boost::system::error_code AcceptWaiting();
  boost::system::error_code AcceptOne();

  Tcp::acceptor acceptor_;
  std::function<void(Tcp::socket)> on_connection_;
};

}  // namespace zsetd
