#pragma once

#include "core/util/time.h"
#include "server/engine/support/host.h"

namespace zsetd {

// Times commands that run one after another. Each is timed from the end of the previous one, so
// that one reading of the stopwatch per command is enough. All times are of Host::stopwatch.
class CommandClock {
 public:
  // The host outlives it.
  explicit CommandClock(const Host& host) : host_(host), began_at_(host.stopwatch()) {}
  CommandClock(const CommandClock&) = delete;

  // Must be called before a command that does not follow the previous one immediately.
  void Restart() { began_at_ = host_.stopwatch(); }

  // Ends the running command. Returns the time that it took.
  Micros EndCommand() {
    const Micros ended_at = host_.stopwatch();
    const Micros took = ended_at - began_at_;
    began_at_ = ended_at;
    return took;
  }

  // When the running command began. Between two commands: when the last one ended.
  Micros began_at() const { return began_at_; }

 private:
  const Host& host_;
  Micros began_at_;
};

}  // namespace zsetd
