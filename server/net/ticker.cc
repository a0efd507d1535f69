#include "server/net/ticker.h"

#include <algorithm>

#include "server/process/clock.h"

namespace zsetd {
namespace {

// The longest that a tick keeps clients waiting. One that leaves something due is followed by the
// next as soon as the clients that are ready have been served.
constexpr Micros kBudget{1000};

// Not a moment too early.
Millis RoundUp(Micros time) { return std::chrono::ceil<Millis>(time); }

}  // namespace

Millis Ticker::TickIfDue(Micros now) {
  const Millis left = TimeLeft(now);
  if (left > Millis(0)) return left;
  last_tick_ = now;
  engine_.executor().AdvanceTo(UnixNow());
  engine_.executor().Tick(kBudget);
  return TimeLeft(MonotonicNow());
}

Millis Ticker::TimeLeft(Micros now) const {
  const Millis regular = RoundUp(last_tick_ + Period() - now);
  const auto deadline = engine_.executor().NextDeadline();
  const Millis left = deadline ? std::min(regular, *deadline - UnixNow()) : regular;
  return std::max(left, Millis(0));
}

}  // namespace zsetd
