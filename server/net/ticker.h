#pragma once

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

 private:
  Millis Period() const { return Millis(1000) / engine_.settings().hz; }
  Micros TimeLeft(Micros now) const;

  Engine& engine_;
  Micros last_tick_{0};
};

}  // namespace zsetd
