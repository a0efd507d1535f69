#pragma once

#include <cstddef>
#include <cstdint>

#include "core/util/time.h"

namespace zsetd {

// A client's connection, as the network reports it to the engine. Sizes are in bytes.
struct ClientConnection {
  const Millis connected_at;
  Millis last_active;  // when it last sent or took something

  size_t bytes = 0;  // allocated for the connection: what does not change with use
  bool uses_tls = false;
  int descriptor = -1;        // of its socket, for CLIENT LIST
  int io_thread = 0;          // the number of the thread that serves it, for CLIENT LIST
  uint64_t received = 0;      // ever
  uint64_t sent = 0;          // that the network has taken, ever
  size_t input_bytes = 0;     // received and not yet executed, at its last activity
  size_t input_capacity = 0;  // all that its input took then

  bool close_after_reply = false;  // send what is in the output, then close
  bool close_now = false;          // close without sending
};

}  // namespace zsetd
