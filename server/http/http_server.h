#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
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

// The parts of a request that a handler needs. Texts are as the client sent them.
struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // without the part from ? on
  std::string host;    // the header Host; empty only if a client of HTTP/1.0 sent none
  std::string authorization;
  std::string content_type;
  std::string body;
  std::string peer;       // "127.0.0.1:50000"
  std::string origin;     // the address alone; of IPv6 the first 64 bits, which a client has whole
  std::string own;        // the server's end of the connection
  bool is_local = false;  // the peer is on this machine
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // more of them
};

class HttpConnection;

// A small HTTP/1.1 server (Boost.Beast) on a thread of its own: for scrapes and one page, not for
// the open internet. The resources of a client are bounded:
//
//   connections 32    header 8 KB    body 64 KB    10 seconds for a request, 60 between two
//
// A new connection beyond these closes another one: an idle one first, then one whose request is
// incomplete, then one that does not take its response. Among several, the oldest one of the
// address with the most connections is closed, so that slow clients cannot keep others out. If the
// server works on 32 requests, the new connection is closed.
class HttpServer {
 public:
  // Responds to one request, once; may be called by any thread.
  using Respond = std::function<void(HttpResponse)>;
  // Called by the server's thread.
  using Handler = std::function<void(HttpRequest, Respond)>;

  explicit HttpServer(Handler handler);

  // Stops: open connections are closed, and requests are not answered any more.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;

  // Listens on these addresses, in the syntax of the setting `bind`. The error is a message for the
  // operator.
  absl::Status Listen(std::string_view addresses, uint16_t port);

  // Starts the thread.
  void Start();

  // Has the server's thread call this. May be called by any thread.
  void Run(std::function<void()> work);

 private:
  friend class HttpConnection;
  using Acceptor = boost::asio::ip::tcp::acceptor;

  absl::Status ListenAt(std::string_view address, uint16_t port);
  void Accept(Acceptor& acceptor);
  bool MakeRoom();

  Handler handler_;
  boost::asio::io_context io_{1};
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::set<std::shared_ptr<HttpConnection>> connections_;
  uint64_t last_phase_ = 0;  // the number of phases of connections that have begun
  std::thread thread_;
};

}  // namespace zsetd
