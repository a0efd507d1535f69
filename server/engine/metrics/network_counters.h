#pragma once

#include <cstdint>

namespace zsetd {

// Counts the reads and writes of connections. Each thread that reads and writes has counters of its
// own, and adds them to those of the server when it uses the engine next.
struct NetworkCounters {
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;
  uint64_t reads = 0;   // that brought something
  uint64_t writes = 0;  // of which the network took something

  NetworkCounters& operator+=(const NetworkCounters& other) {
    input_bytes += other.input_bytes;
    output_bytes += other.output_bytes;
    reads += other.reads;
    writes += other.writes;
    return *this;
  }
};

}  // namespace zsetd
