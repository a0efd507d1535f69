#include "server/net/hang_up.h"

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>
#include <variant>

#include "server/net/coroutine.h"

namespace zsetd {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kPatience{1};
constexpr size_t kMaxBytes = 16u << 20;

asio::awaitable<void> DiscardRest(StreamSocket socket) {
  using asio::experimental::awaitable_operators::operator||;
  asio::steady_timer patience(socket.get_executor(), kPatience);
  std::array<char, 16 << 10> waste;
  for (size_t bytes = 0; bytes < kMaxBytes;) {
    const auto first = co_await (socket.async_read_some(asio::buffer(waste), kAwait) ||
                                 patience.async_wait(kAwait));
    if (first.index() != 0) co_return;
    const auto [error, count] = std::get<0>(first);
    if (error) co_return;
    bytes += count;
  }
}

}  // namespace

void HangUp(Socket socket, const StreamSocket::executor_type& executor) {
  if (socket.HasEnded()) return;  // as nearly all have; sparing them the rest saves 8 microseconds
  socket.EndOutput();
  Spawn(executor,
        [rest = socket.Return(executor)]() mutable { return DiscardRest(std::move(rest)); });
}

}  // namespace zsetd
