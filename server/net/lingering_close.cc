#include "server/net/lingering_close.h"

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <utility>

namespace zsetd {
namespace {

constexpr std::chrono::seconds kPatience{1};
constexpr size_t kMaxBytes = 16u << 20;

// What is left of a connection. Its timer keeps it alive.
class Rest : public Polled, public std::enable_shared_from_this<Rest> {
 public:
  Rest(Socket socket, Poller& poller, const boost::asio::any_io_executor& executor)
      : socket_(std::move(socket)), poller_(poller), patience_(executor, kPatience) {}

  void Start() {
    socket_.EndOutput();
    if (!poller_.Watch(socket_.descriptor(), *this, {.reads = true})) return;
    patience_.async_wait([self = shared_from_this()](const auto&) { self->socket_.Close(); });
  }

 private:
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Serve() override {}
  void Send() override {}

  void Receive() override {
    std::array<char, 16 << 10> waste;
    const auto [state, count] = socket_.Read(waste);
    bytes_ += count;
    const bool goes_on = state == Socket::State::kDone || state == Socket::State::kNotNow;
    if (goes_on && bytes_ < kMaxBytes) return;
    socket_.Close();
    patience_.cancel();
  }

  Socket socket_;
  Poller& poller_;
  boost::asio::steady_timer patience_;
  size_t bytes_ = 0;
};

}  // namespace

void HangUp(Socket socket, Poller& poller, const boost::asio::any_io_executor& executor) {
  if (socket.HasEnded()) return;  // the usual case, which needs none of the rest
  std::make_shared<Rest>(std::move(socket), poller, executor)->Start();
}

}  // namespace zsetd
