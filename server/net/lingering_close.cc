#include "server/net/lingering_close.h"

#include <algorithm>
#include <array>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <utility>

#include "server/process/clock.h"

namespace zsetd {
namespace {

// After this time no request is likely to be in transit.
constexpr std::chrono::milliseconds kQuiet{50};
constexpr size_t kMaxBytes = 16u << 20;

}  // namespace

// A connection whose output has ended, and whose input is discarded.
class LingeringCloses::Rest : public Polled, public std::enable_shared_from_this<Rest> {
 public:
  Rest(Socket socket, LingeringCloses& owner)
      : socket_(std::move(socket)), owner_(owner), patience_(owner.executor_, owner.patience_) {}

  // Returns false if the connection is closed.
  bool Start() {
    socket_.EndOutput();
    if (!owner_.poller_.Watch(socket_.descriptor(), *this, {.reads = true})) return false;
    patience_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
      const auto self = weak.lock();
      if (!error && self) self->End();
    });
    return true;
  }

  bool IsSettled(Micros now) const {
    return !socket_.HasUnacknowledged() && now - quiet_since_ >= kQuiet;
  }

 private:
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Serve() override {}
  void Send() override {}

  void Receive() override {
    std::array<char, 16 << 10> waste;
    const auto [state, count] = socket_.Read(waste);
    bytes_ += count;
    if (count > 0) quiet_since_ = MonotonicNow();
    const bool goes_on = state == Socket::State::kDone || state == Socket::State::kNotNow;
    if (!goes_on || bytes_ >= kMaxBytes) End();
  }

  void End() {
    socket_.Close();
    patience_.cancel();
    owner_.rests_.erase(shared_from_this());
  }

  Socket socket_;
  LingeringCloses& owner_;
  boost::asio::steady_timer patience_;
  size_t bytes_ = 0;
  Micros quiet_since_ = MonotonicNow();
};

LingeringCloses::~LingeringCloses() = default;

void LingeringCloses::Close(Socket socket) {
  if (socket.HasEnded()) return;  // the usual case: nothing is left to discard
  const auto rest = std::make_shared<Rest>(std::move(socket), *this);
  if (rest->Start()) rests_.insert(rest);
}

bool LingeringCloses::AreSettled(Micros now) const {
  return std::ranges::all_of(rests_, [now](const auto& rest) { return rest->IsSettled(now); });
}

}  // namespace zsetd
