#include "server/net/listener.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <utility>

namespace zsetd {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::chrono::milliseconds kPauseAfterFailure{100};
constexpr int kMostAccepted = 100;  // then the connected clients are served

// Whether the error concerns one connection only, so the next one can probably be accepted. Such an
// error is no reason to pause: a client that repeatedly connects and aborts would delay all others.
bool IsOfOneConnection(const error_code& error) {
  return error == asio::error::connection_aborted || error == asio::error::interrupted;
}

// Whether a process accepts connections at the socket file. A full queue counts, too.
bool IsServed(const asio::local::stream_protocol::endpoint& endpoint) {
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool connects =
      connect(probe, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0;
  const bool is_served = connects || errno == EAGAIN;
  close(probe);
  return is_served;
}

}  // namespace

Listener::Listener(asio::io_context& io, Poller& poller, const Log& log,
                   std::function<void(StreamSocket)> on_connection)
    : poller_(poller),
      log_(log),
      acceptor_(io),
      pause_(io),
      on_connection_(std::move(on_connection)) {}

error_code Listener::Listen(const StreamEndpoint& endpoint, int backlog) {
  const bool is_v6 = endpoint.data()->sa_family == AF_INET6;
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(StreamAcceptor::reuse_address(true), error);
  if (!error && is_v6) acceptor_.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  return error ? error : Begin(backlog);
}

error_code Listener::ListenAt(const std::string& path, mode_t permissions, int backlog) {
  sockaddr_un address{};
  if (path.size() >= sizeof(address.sun_path)) return asio::error::name_too_long;
  const asio::local::stream_protocol::endpoint endpoint(path);
  if (IsServed(endpoint)) return asio::error::address_in_use;
  unlink(path.c_str());
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (error) return error;
  path_ = path;
  if (permissions != 0 && chmod(path.c_str(), permissions) != 0) {
    return {errno, boost::system::system_category()};
  }
  return Begin(backlog);
}

error_code Listener::Begin(int backlog) {
  assert(acceptor_.is_open());
  error_code error;
  acceptor_.listen(backlog, error);
  if (!error) NeverBlock(error);
  if (!error) Await();
  return error;
}

// The second option is for Asio: without it, Asio handles a connection that was aborted in the
// queue by waiting for the next one.
void Listener::NeverBlock(error_code& error) {
  acceptor_.non_blocking(true, error);
  if (!error) acceptor_.set_option(asio::socket_base::enable_connection_aborted(true), error);
}

// Removes the socket file first: after the end of the queue, the file may be that of another
// server.
void Listener::Stop() {
  if (!path_.empty()) unlink(path_.c_str());
  while (AcceptOne() == error_code()) continue;
  poller_.Wake(*this);  // it must exist while an event of it may be on its way
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

void Listener::Serve() {
  if (!acceptor_.is_open()) return;
  const error_code error = AcceptWaiting();
  if (!error) return;
  log_.Write(LogLevel::kWarning, "Cannot accept a connection: " + error.message());
  PauseAfterFailure();
}

void Listener::PauseAfterFailure() {
  poller_.Forget(acceptor_.native_handle(), *this);
  pause_.expires_after(kPauseAfterFailure);
  pause_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->Await();
  });
}

void Listener::Await() {
  if (!acceptor_.is_open()) return;
  if (poller_.Watch(acceptor_.native_handle(), *this, {.reads = true})) return;
  log_.Write(LogLevel::kWarning, "Cannot wait for connections: out of memory");
  PauseAfterFailure();
}

error_code Listener::AcceptWaiting() {
  error_code error;
  for (int count = 0; count < kMostAccepted; ++count) {
    error = AcceptOne();
    if (error && !IsOfOneConnection(error)) break;
  }
  const bool none_waits = error == asio::error::would_block;
  return none_waits || IsOfOneConnection(error) ? error_code() : error;
}

error_code Listener::AcceptOne() {
  error_code error;
  StreamSocket socket(acceptor_.get_executor());
  acceptor_.accept(socket, error);
  if (!error) on_connection_(std::move(socket));
  return error;
}

}  // namespace zsetd
