#include "server/net/listener.h"

#include <spdlog/spdlog.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "server/engine/errors.h"

namespace zsetd {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kPauseAfterFailure{100};

}  // namespace

Listener::Listener(asio::io_context& io, std::function<void(Tcp::socket)> on_connection)
    : acceptor_(io), on_connection_(std::move(on_connection)) {}

absl::Status Listener::Listen(const Tcp::endpoint& endpoint, int backlog) {
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor_.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(backlog, error);
  if (error) return Refusal(error.message());
  asio::co_spawn(acceptor_.get_executor(), Accept(), asio::detached);
  return absl::OkStatus();
}

void Listener::Stop() {
  error_code ignored;
  acceptor_.close(ignored);
}

asio::awaitable<void> Listener::Accept() {
  asio::steady_timer pause(acceptor_.get_executor());
  while (acceptor_.is_open()) {
    auto [error, socket] = co_await acceptor_.async_accept(kAwait);
    if (error == asio::error::operation_aborted) break;
    if (!error) {
      on_connection_(std::move(socket));
      continue;
    }
    spdlog::warn("Cannot accept a connection: {}", error.message());
    pause.expires_after(kPauseAfterFailure);
    co_await pause.async_wait(kAwait);
  }
}

}  // namespace zsetd
