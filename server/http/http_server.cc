#include "server/http/http_server.h"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>

#include "server/engine/support/errors.h"
#include "server/engine/support/start_thread.h"

namespace zsetd {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kMostConnections = 32;
constexpr uint32_t kMostHeaderBytes = 8 << 10;
constexpr uint64_t kMostBodyBytes = 64 << 10;
constexpr std::chrono::seconds kRequestTime{10};
constexpr std::chrono::seconds kIdleTime{60};
constexpr int kBacklog = 64;
constexpr std::chrono::milliseconds kPauseAfterFailure{100};

std::string AddressText(const tcp::endpoint& endpoint) {
  std::ostringstream text;
  text << endpoint;
  return text.str();
}

std::string OriginText(const asio::ip::address& address) {
  if (address.is_v4()) return address.to_string();
  asio::ip::address_v6::bytes_type bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return asio::ip::address_v6(bytes).to_string();
}

using Message = http::request<http::string_body>;

struct Target {
  std::string path;
  std::string host;
};

// A target may name the host, in place of the header (RFC 9112, 3.2.2).
Target TargetOf(const Message& message) {
  constexpr std::string_view kScheme = "http://";
  std::string_view target(message.target().data(), message.target().size());
  std::string host(message[http::field::host]);
  if (beast::iequals(beast::string_view(target.data(), std::min(target.size(), kScheme.size())),
                     kScheme.data())) {
    target.remove_prefix(kScheme.size());
    const size_t path = std::min(target.find_first_of("/?"), target.size());
    host = path == 0 ? "?" : target.substr(0, path);  // no name of this server
    target.remove_prefix(path);
    if (target.empty()) target = "/";
  }
  return {.path = std::string(target.substr(0, target.find('?'))), .host = std::move(host)};
}

HttpResponse Refused(unsigned status, std::string why) {
  return {.status = status, .body = why + "\n"};
}

// Returns the response that refuses a request because of its header. Refuses headers that a proxy
// may understand differently (RFC 9112, 3.2 and 6.1), and those that need features this server does
// not have.
std::optional<HttpResponse> RefusalOf(const Message& message) {
  const bool is_first_version = message.version() < 11;
  const auto encodings = message.count(http::field::transfer_encoding);
  const auto hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && !is_first_version)) {
    return Refused(400, "The request needs exactly one Host header.");
  }
  if (encodings > 0) {
    const bool has_length = message.count(http::field::content_length) > 0;
    if (has_length || is_first_version) {
      return Refused(400, "The length of the request is ambiguous.");
    }
    const bool is_known =
        encodings == 1 && beast::iequals(message[http::field::transfer_encoding], "chunked");
    if (!is_known) return Refused(501, "The only transfer encoding is chunked.");
  }
  const auto expectation = message[http::field::expect];
  if (!expectation.empty() && !beast::iequals(expectation, "100-continue")) {
    return Refused(417, "The only expectation is 100-continue.");
  }
  return std::nullopt;
}

}  // namespace

// One connection: reads a request, calls the handler, writes the response, and repeats. Everything
// except the handler's work runs on the server's thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // In the order in which connections are closed to make room for a new one.
  enum class Phase { kIdle, kReading, kWriting, kHandled };

  HttpConnection(tcp::socket socket, HttpServer& server)
      : stream_(std::move(socket)), server_(server) {
    error_code ignored;
    origin_ = OriginText(stream_.socket().remote_endpoint(ignored).address());
  }

  void Read() {
    Enter(Phase::kIdle);
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(kMostBodyBytes);
    stream_.expires_after(kIdleTime);
    // The first bytes end the idle time. The rest of the request must then arrive within
    // `kRequestTime`.
    http::async_read_some(stream_, buffer_, *parser_,
                          [self = shared_from_this()](const error_code& error, size_t) {
                            self->OnFirstBytes(error);
                          });
  }

  Phase phase() const { return phase_; }
  uint64_t phase_number() const { return phase_number_; }  // larger for a phase that began later
  const std::string& origin() const { return origin_; }

  void Close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
    server_.connections_.erase(shared_from_this());
  }

 private:
  void Enter(Phase phase) {
    phase_ = phase;
    phase_number_ = ++server_.last_phase_;
  }

  void OnFirstBytes(const error_code& error) {
    Enter(Phase::kReading);
    if (error) return Fail(error);
    stream_.expires_after(kRequestTime);
    if (parser_->is_header_done()) return OnHeader({});
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](const error_code& failed, size_t) { self->OnHeader(failed); });
  }

  void OnHeader(const error_code& error) {
    if (error) return Fail(error);
    const Message& message = parser_->get();
    is_head_ = message.method() == http::verb::head;
    version_ = message.version();
    if (auto refusal = RefusalOf(message)) return Refuse(*std::move(refusal));
    if (parser_->is_done()) return OnRequest({});
    const bool waits = version_ >= 11 && message.count(http::field::expect) > 0;
    if (!waits) return ReadBody();
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue),
                      [self = shared_from_this()](const error_code& failed, size_t) {
                        if (failed) return self->Close();
                        self->ReadBody();
                      });
  }

  void ReadBody() {
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](const error_code& failed, size_t) { self->OnRequest(failed); });
  }

  // Closes the connection. If the received bytes are the cause, responds first.
  void Fail(const error_code& error) {
    if (error == http::error::body_limit || error == http::error::header_limit) {
      return Refuse(Refused(413, "The request is too large."));
    }
    const bool is_about_bytes =
        error != http::error::end_of_stream &&
        error.category() == http::make_error_code(http::error::end_of_stream).category();
    if (is_about_bytes) return Refuse(Refused(400, "This is not an HTTP request."));
    Close();
  }

  void Refuse(HttpResponse response) {
    keep_alive_ = false;  // the start of the next request is unknown
    Write(std::move(response));
  }

  void OnRequest(const error_code& error) {
    if (error) return Fail(error);
    const Message& message = parser_->get();
    keep_alive_ = message.keep_alive();
    Enter(Phase::kHandled);
    stream_.expires_never();  // the handler has no time limit
    server_.handler_(Described(message),
                     [weak = weak_from_this(), &io = server_.io_](HttpResponse response) {
                       asio::post(io, [weak, response = std::move(response)]() mutable {
                         if (const auto self = weak.lock()) self->Write(std::move(response));
                       });
                     });
  }

  HttpRequest Described(const Message& message) const {
    error_code ignored;
    const tcp::endpoint peer = stream_.socket().remote_endpoint(ignored);
    const tcp::endpoint own = stream_.socket().local_endpoint(ignored);
    const auto field = [&](http::field name) { return std::string(message[name]); };
    const Target target = TargetOf(message);
    return {.method = is_head_ ? "GET" : std::string(message.method_string()),
            .path = target.path,
            .host = target.host,
            .authorization = field(http::field::authorization),
            .content_type = field(http::field::content_type),
            .body = message.body(),
            .peer = AddressText(peer),
            .origin = origin_,
            .own = AddressText(own),
            .is_local = peer.address().is_loopback()};
  }

  void Write(HttpResponse response) {
    Enter(Phase::kWriting);
    response_.emplace(http::int_to_status(response.status), version_);
    response_->set(http::field::server, "zsetd");
    response_->set(http::field::content_type, response.content_type);
    response_->set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) response_->set(name, value);
    response_->keep_alive(keep_alive_);
    const size_t length = response.body.size();
    if (!is_head_) response_->body() = std::move(response.body);
    response_->content_length(length);
    stream_.expires_after(kRequestTime);
    http::async_write(stream_, *response_,
                      [self = shared_from_this()](const error_code& error, size_t) {
                        if (error || !self->keep_alive_) return self->Close();
                        self->Read();
                      });
  }

  beast::tcp_stream stream_;
  HttpServer& server_;
  beast::flat_buffer buffer_{kMostHeaderBytes + kMostBodyBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::string origin_;  // as in HttpRequest
  Phase phase_ = Phase::kIdle;
  uint64_t phase_number_ = 0;
  unsigned version_ = 11;
  bool keep_alive_ = true;
  bool is_head_ = false;
};

HttpServer::HttpServer(Handler handler) : handler_(std::move(handler)) {}

HttpServer::~HttpServer() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

absl::Status HttpServer::Listen(std::string_view addresses, uint16_t port) {
  std::istringstream words{std::string(addresses)};
  for (std::string address; words >> address;) {
    if (absl::Status status = ListenAt(address, port); !status.ok()) return status;
  }
  if (acceptors_.empty()) return Refusal("metrics-bind: there is no address to listen on");
  return absl::OkStatus();
}

absl::Status HttpServer::ListenAt(std::string_view address, uint16_t port) {
  const bool optional = address.starts_with('-');
  if (optional) address.remove_prefix(1);
  const std::string name(address == "*" ? "0.0.0.0" : address == "::*" ? "::" : address);
  error_code error;
  const auto ip = asio::ip::make_address(name, error);
  if (error) return Refusal("metrics-bind: " + name + " is not an address");
  auto acceptor = std::make_unique<Acceptor>(io_);
  const tcp::endpoint endpoint(ip, port);
  acceptor->socket.open(endpoint.protocol(), error);
  if (!error) acceptor->socket.set_option(asio::socket_base::reuse_address(true), error);
  if (!error && ip.is_v6()) acceptor->socket.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor->socket.bind(endpoint, error);
  if (!error) acceptor->socket.listen(kBacklog, error);
  const bool missing = error == boost::system::errc::address_not_available ||
                       error == boost::system::errc::address_family_not_supported;
  if (optional && missing) return absl::OkStatus();
  if (error) {
    return Refusal("Cannot listen on " + name + " port " + std::to_string(port) +
                   " (metrics-port): " + error.message());
  }
  acceptors_.push_back(std::move(acceptor));
  return absl::OkStatus();
}

// Blocks all signals on the new thread, because they must interrupt the wait of the thread of the
// commands.
absl::Status HttpServer::Start() {
  for (const auto& acceptor : acceptors_) Accept(*acceptor);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::Status started = StartThread(thread_, [this] { io_.run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void HttpServer::Repeat(std::chrono::seconds first, std::chrono::seconds period,
                        std::function<void()> work) {
  repeat_.expires_after(first);
  repeat_.async_wait([this, period, work = std::move(work)](const error_code& error) mutable {
    if (error) return;
    work();
    Repeat(period, period, std::move(work));
  });
}

void HttpServer::Run(std::function<void()> work) { asio::post(io_, std::move(work)); }

void HttpServer::Accept(Acceptor& acceptor) {
  acceptor.socket.async_accept([this, &acceptor](const error_code& error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error && error != asio::error::connection_aborted) return PauseAndAccept(acceptor);
    if (!error && MakeRoom()) {
      const auto connection = std::make_shared<HttpConnection>(std::move(socket), *this);
      connections_.insert(connection);
      connection->Read();
    }
    Accept(acceptor);
  });
}

// While no descriptor is free, each attempt fails immediately.
void HttpServer::PauseAndAccept(Acceptor& acceptor) {
  acceptor.pause.expires_after(kPauseAfterFailure);
  acceptor.pause.async_wait([this, &acceptor](const error_code& error) {
    if (!error) Accept(acceptor);
  });
}

// Closes a connection if necessary. Returns whether there is room for one more.
bool HttpServer::MakeRoom() {
  if (connections_.size() < kMostConnections) return true;
  std::map<std::string_view, size_t> counts;
  for (const auto& each : connections_) ++counts[each->origin()];
  const auto rank = [&](const std::shared_ptr<HttpConnection>& each) {
    return std::tuple(each->phase(), kMostConnections - counts[each->origin()],
                      each->phase_number());
  };
  const auto first = std::ranges::min_element(connections_, {}, rank);
  if ((*first)->phase() == HttpConnection::Phase::kHandled) return false;
  const auto kept = *first;
  kept->Close();
  return true;
}

}  // namespace zsetd
