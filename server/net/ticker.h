#pragma once

#include <optional>

#include "core/util/time.h"
#include "server/engine/engine.h"

namespace zsetd {

// Advances the engine's time while there are no requests: `hz` times a second, and when the next
// key expires.
class Ticker {
 public:
  explicit Ticker(Engine& engine) : engine_(engine) {}

  // Ticks if a tick is due. `now` is monotonic time. Returns the time after which it must be called
  // again; commands that run in the meantime may set an earlier deadline.
  Micros TickIfDue(Micros now);

  // The time after which TickIfDue() must be called. `now` is monotonic time.
  Micros TimeLeft(Micros now);

  // Whether the earliest deadline is now earlier than all that this or TimeLeft() has seen since
  // the last call of TimeLeft().
  bool HasEarlierDeadline();

 private:
  Millis Period() const { return Millis(1000) / engine_.settings().hz; }

  Engine& engine_;
  Micros last_tick_{0};
  std::optional<Millis> deadline_;  // the earliest, when it was read last
};

}  // namespace zsetd
