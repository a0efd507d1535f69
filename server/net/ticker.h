#pragma once

#include "core/util/time.h"
#include "server/engine/engine.h"

namespace zsetd {

// Advances the engine's time while there are no requests: `hz` times a second, and at the moment
// when the next key comes due.
class Ticker {
 public:
  explicit Ticker(Engine& engine) : engine_(engine) {}

  // Ticks if it is time to; `now` is that of the clock that only goes forward. Returns for how long
  // it need not be called again, unless commands run, which may set an earlier deadline.
  Micros TickIfDue(Micros now);

 private:
  Millis Period() const { return Millis(1000) / engine_.settings().hz; }
  Micros TimeLeft(Micros now) const;

  Engine& engine_;
  Micros last_tick_{0};
};

}  // namespace zsetd
