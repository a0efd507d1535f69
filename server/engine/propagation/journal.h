#pragma once

#include <cstdint>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

// Receives what the engine propagates (effects.h): the append-only log, or the stream for replicas.
// The latter gets messages, too, which change no data.
class Journal {
 public:
  virtual ~Journal() = default;

  // One unit: requests in RESP that reproduce its changes wherever the data was the same before,
  // between MULTI and EXEC if there are several. A SELECT precedes the first request for another
  // database than that of the previous one, in this unit or the one before it.
  //
  // The log may take the bytes (OutputBuffer::Take, O(1) for a long unit), while the stream leaves
  // them; the rest is discarded. Returns the position at which the unit ends: ascending in the
  // order of units, and never 0.
  virtual uint64_t Append(OutputBuffer& unit) = 0;
};

}  // namespace zsetd
