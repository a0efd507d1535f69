#include "server/net/ticker.h"

#include <algorithm>
#include <chrono>

#include "server/process/clock.h"

namespace zsetd {
namespace {

// The longest time that a tick delays clients. If a tick leaves work, the next one follows as soon
// as the ready clients have been served.
constexpr Micros kBudget{1000};

}  // namespace

Micros Ticker::TickIfDue(Micros now) {
  const Micros left = TimeLeft(now);
  if (left > Micros(0)) return left;
  last_tick_ = now;
  engine_.executor().AdvanceTo(UnixNow());
  engine_.executor().Tick(kBudget);
  return TimeLeft(MonotonicNow());
}

// Deadlines are whole milliseconds, and are due at the start of the millisecond.
Micros Ticker::TimeLeft(Micros now) const {
  Micros left = last_tick_ + Period() - now;
  const std::optional<Millis> deadline = engine_.executor().NextDeadline();
  if (deadline && *deadline <= engine_.store().now()) return Micros(0);
  const Micros wall = UnixNowExactly();
  const bool is_soon = deadline && *deadline < std::chrono::ceil<Millis>(wall + left);
  if (is_soon) left = std::min(left, *deadline - wall);  // the difference cannot overflow here
  return std::max(left, Micros(0));
}

}  // namespace zsetd
