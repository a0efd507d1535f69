#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace zsetd {

// The parts of a request that a handler needs, as the client sent them.
struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // without the query, which begins at ?
  std::string host;    // the Host header; only empty if an HTTP/1.0 client sent none
  std::string authorization;
  std::string content_type;
  std::string body;
  std::string peer;  // "127.0.0.1:50000"

  // The address without the port. For IPv6 its first 64 bits, because a client may own all
  // addresses that begin with them.
  std::string origin;
  std::string own;        // the server's end of the connection
  bool is_local = false;  // the peer is on this machine
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // further headers
};

class HttpConnection;

// A small HTTP/1.1 server (Boost.Beast) on a thread of its own, for scrapes and one page. It is not
// made for the open internet. The resources of a client are bounded:
//
//   connections 32    header 8 KB    body 64 KB    10 seconds for a request, 60 between two
//
// If there are 32 connections, a new one closes another one: first an idle one, then one whose
// request is incomplete, then one that does not read its response. Among several, the server
// chooses the address with the most connections, and its oldest connection. So slow clients cannot
// keep others out. If all 32 requests are being handled, the new connection is closed.
class HttpServer {
 public:
  // Responds to one request. Must be called once, by any thread.
  using Respond = std::function<void(HttpResponse)>;
  // Called by the server's thread.
  using Handler = std::function<void(HttpRequest, Respond)>;

  explicit HttpServer(Handler handler);

  // Closes all connections and stops the thread. Pending requests receive no response.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;

  // Listens on these addresses, in the syntax of the setting `bind`. The error is human-readable.
  absl::Status Listen(std::string_view addresses, uint16_t port);

  // Starts the thread.
  absl::Status Start();

  // Makes the server's thread call the function after `first`, and then once in each `period`. Must
  // be called before Start(), at most once.
  void Repeat(std::chrono::seconds first, std::chrono::seconds period, std::function<void()> work);

  // Makes the server's thread call the function. May be called by any thread.
  void Run(std::function<void()> work);

 private:
  friend class HttpConnection;
  struct Acceptor {
    explicit Acceptor(boost::asio::io_context& io) : socket(io), pause(io) {}

    boost::asio::ip::tcp::acceptor socket;
    boost::asio::steady_timer pause;  // after a failure
  };

  absl::Status ListenAt(std::string_view address, uint16_t port);
  void Accept(Acceptor& acceptor);
  void PauseAndAccept(Acceptor& acceptor);
  bool MakeRoom();

  Handler handler_;
  boost::asio::io_context io_{1};
  boost::asio::steady_timer repeat_{io_};
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::set<std::shared_ptr<HttpConnection>> connections_;
  uint64_t last_phase_ = 0;  // the number of phases that have begun, over all connections
  std::thread thread_;
};

}  // namespace zsetd
