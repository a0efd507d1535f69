#include "server/net/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <csignal>
#include <sstream>
#include <string>

#include "server/engine/errors.h"

namespace zsetd {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
template <int name>
using TcpOption = asio::detail::socket_option::integer<IPPROTO_TCP, name>;

constexpr std::chrono::seconds kGrace{5};
constexpr int kUnansweredProbes = 3;  // then the other side has gone; as Redis

void Prepare(tcp::socket& socket, const Settings& settings) {
  error_code ignored;  // a connection works without these
  socket.set_option(tcp::no_delay(true), ignored);
  const int silence_s = static_cast<int>(settings.tcp_keepalive);
  if (silence_s == 0) return;
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(TcpOption<TCP_KEEPIDLE>(silence_s), ignored);
  socket.set_option(TcpOption<TCP_KEEPINTVL>(std::max(silence_s / 3, 1)), ignored);
  socket.set_option(TcpOption<TCP_KEEPCNT>(kUnansweredProbes), ignored);
}

// Whether the address does not exist on this machine; rather than, say, be taken.
bool IsMissing(const error_code& error) {
  return error == boost::system::errc::address_not_available ||
         error == boost::system::errc::address_family_not_supported;
}

}  // namespace

Server::Server(asio::io_context& io, Engine& engine)
    : io_(io), engine_(engine), ticker_(io, engine), signals_(io, SIGTERM, SIGINT), grace_(io) {}

absl::Status Server::Listen() {
  std::istringstream addresses(engine_.settings().bind);
  for (std::string address; addresses >> address;) {
    const absl::Status status = ListenOn(address);
    if (!status.ok()) return status;
  }
  if (listeners_.empty()) return Refusal("bind: there is no address to listen on");
  ticker_.Start();
  AwaitSignal();
  return absl::OkStatus();
}

absl::Status Server::ListenOn(std::string_view text) {
  const bool optional = text.starts_with('-');
  if (optional) text.remove_prefix(1);
  const std::string name(text == "*" ? "0.0.0.0" : text == "::*" ? "::" : text);
  const uint16_t port = static_cast<uint16_t>(engine_.settings().port);
  error_code error;
  const auto address = asio::ip::make_address(name, error);
  if (error) return Refusal("bind: " + name + " is no address");
  auto listener = std::make_unique<Listener>(
      io_, [this](tcp::socket socket) { OnConnection(std::move(socket)); });
  error = listener->Listen({address, port}, static_cast<int>(engine_.settings().tcp_backlog));
  if (optional && IsMissing(error)) return absl::OkStatus();
  if (error) {
    return Refusal("Cannot listen on " + name + " port " + std::to_string(port) + ": " +
                   error.message());
  }
  listeners_.push_back(std::move(listener));
  return absl::OkStatus();
}

void Server::OnConnection(tcp::socket socket) {
  if (engine_.clients().size() >= static_cast<size_t>(engine_.settings().maxclients)) {
    return TurnAway(socket);
  }
  Prepare(socket, engine_.settings());
  auto session = std::make_shared<Session>(
      std::move(socket), engine_, [this] { ticker_.Reconsider(); },
      [this](Session& ended) { OnEnd(ended); });
  sessions_.insert(session);
  session->Start();
}

void Server::TurnAway(tcp::socket& socket) {
  constexpr std::string_view kFull = "-ERR max number of clients reached\r\n";
  error_code ignored;
  socket.write_some(asio::buffer(kFull), ignored);
  ++engine_.stats().connections_rejected;
}

void Server::OnEnd(Session& session) {
  sessions_.erase(session.shared_from_this());
  EndIfDone();
}

void Server::AwaitSignal() {
  signals_.async_wait([this](const error_code& error, int signal) {
    if (error) return;
    spdlog::info("Received signal {}, shutting down", signal);
    AwaitSignal();
    Stop();
  });
}

void Server::Stop() {
  if (stopping_) return io_.stop();
  stopping_ = true;
  ticker_.Stop();
  for (const auto& listener : listeners_) listener->Stop();
  for (const auto& session : sessions_) session->Finish();
  EndIfDone();
  grace_.expires_after(kGrace);
  grace_.async_wait([this](const error_code& error) {
    if (!error) io_.stop();
  });
}

// Who has been told everything and does not close is waited for no longer.
void Server::EndIfDone() {
  if (stopping_ && sessions_.empty()) io_.stop();
}

}  // namespace zsetd
