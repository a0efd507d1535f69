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
Micros Ticker::TimeLeft(Micros now) {
  const Micros left = std::max(last_tick_ + Period() - now, Micros(0));
  deadline_ = engine_.executor().NextDeadline();
  if (!deadline_) return left;
  if (*deadline_ <= engine_.store().now()) return Micros(0);
  const Micros wall = UnixNowExactly();
  if (*deadline_ >= std::chrono::ceil<Millis>(wall + left)) return left;
  return std::clamp(*deadline_ - wall, Micros(0), left);  // the difference cannot overflow here
}

bool Ticker::HasEarlierDeadline() {
  const std::optional<Millis> deadline = engine_.executor().NextDeadline();
  if (!deadline || (deadline_ && *deadline_ <= *deadline)) return false;
  deadline_ = deadline;
  return true;
}

}  // namespace zsetd
