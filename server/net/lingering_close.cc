#include "server/net/lingering_close.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
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
      : socket_(std::move(socket)), owner_(owner), until_(quiet_since_ + owner.patience_) {}

  // Returns false if the connection is closed.
  bool Start() {
    socket_.EndOutput();
    return owner_.poller_.Watch(socket_.descriptor(), *this, {.reads = true});
  }

  bool IsLate(Micros now) const { return now >= until_; }
  void End() {
    socket_.Close();
    [[maybe_unused]] const size_t erased = owner_.rests_.erase(shared_from_this());
    assert(erased == 1);
  }

  bool IsSettled(Micros now) const {
    return !socket_.HasUnacknowledged() && now - quiet_since_ >= kQuiet;
  }

 private:
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Receive() override {}
  void Send() override {}

  void Serve() override {
    if (socket_.descriptor() < 0) return;
    std::array<char, 16 << 10> waste;
    const auto [state, count] = socket_.Read(waste);
    bytes_ += count;
    if (count > 0) quiet_since_ = MonotonicNow();
    const bool goes_on = state == Socket::State::kDone || state == Socket::State::kNotNow;
    if (!goes_on || bytes_ >= kMaxBytes) End();
  }

  Socket socket_;
  LingeringCloses& owner_;
  size_t bytes_ = 0;
  Micros quiet_since_ = MonotonicNow();
  const Micros until_;
};

LingeringCloses::~LingeringCloses() = default;

void LingeringCloses::Close(Socket socket) {
  if (socket.HasEnded()) return;  // the usual case: nothing is left to discard
  const auto rest = std::make_shared<Rest>(std::move(socket), *this);
  if (rest->Start()) rests_.insert(rest);
}

void LingeringCloses::CloseLate(Micros now) {
  if (rests_.empty()) return;
  const auto rests = rests_;  // a copy: the end of a rest removes it
  for (const auto& rest : rests) {
    if (rest->IsLate(now)) rest->End();
  }
}

bool LingeringCloses::AreSettled(Micros now) const {
  return std::ranges::all_of(rests_, [now](const auto& rest) { return rest->IsSettled(now); });
}

}  // namespace zsetd
