#include "server/net/ticker.h"

#include <algorithm>

#include "server/net/clock.h"

namespace zsetd {
namespace {

// The longest that a tick keeps clients waiting. One that leaves something due is followed by the
// next as soon as the clients that are ready have been served.
constexpr Micros kBudget{1000};

}  // namespace

void Ticker::Stop() {
  stopped_ = true;
  timer_.cancel();
}

void Ticker::Reconsider() {
  if (NextTick() < armed_for_) Arm();
}

Millis Ticker::NextTick() const {
  const Millis period = Millis(1000) / engine_.settings().hz;
  const Millis regular = engine_.now() + period;
  return std::min(engine_.NextDeadline().value_or(regular), regular);
}

void Ticker::Arm() {
  if (stopped_) return;
  const Millis now = UnixNow();
  armed_for_ = NextTick();
  timer_.expires_after(std::clamp(armed_for_ - now, Millis(0), Millis(1000)));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopped_) Tick();
  });
}

void Ticker::Tick() {
  engine_.AdvanceTo(UnixNow());
  engine_.Tick(kBudget);
  Arm();
}

}  // namespace zsetd
