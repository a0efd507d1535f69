#pragma once

#include <cstdint>

namespace zsetd {

// Counts the reads and writes of connections since the start or since CONFIG RESETSTAT. Threads
// that read and write update it without the engine.
struct NetworkCounters {
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;
  uint64_t reads = 0;   // that brought something
  uint64_t writes = 0;  // of which the network took something
};

}  // namespace zsetd
