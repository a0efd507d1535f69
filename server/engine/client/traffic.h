#pragma once

#include <cstddef>
#include <cstdint>

namespace zsetd {

// The bytes that a connection has read and written since its client was served last, and the state
// of its buffers. The connection collects them while it reads and writes, and reports them before
// its requests run
// (RequestPort::Begin).
struct Traffic {
  uint64_t received = 0;  // bytes, since the last report
  uint64_t sent = 0;      // bytes that the network has taken, since the last report

  size_t input_bytes = 0;      // received and not executed
  size_t input_capacity = 0;   // allocated for input
  size_t unsent_bytes = 0;     // that the connection took from the output, and the network did not
  size_t unsent_capacity = 0;  // allocated for these
};

}  // namespace zsetd
