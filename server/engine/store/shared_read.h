#pragma once

#include <cstdint>

namespace zsetd {

// One run of a command that reads the data while other threads read it, too. It changes nothing
// except its caller. A run that would have to change more sets `must_run_alone`: its reply is void,
// and the command runs again while no other thread uses the engine.
struct SharedRead {
  uint32_t hits = 0;  // keys that were looked up and exist
  uint32_t misses = 0;
  bool must_run_alone = false;
};

}  // namespace zsetd
