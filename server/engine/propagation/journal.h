#pragma once

#include <cstdint>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

// Receives what the engine propagates (effects.h): an append-only log, or a replication backlog.
class Journal {
 public:
  virtual ~Journal() = default;

  // One unit: requests in RESP that reproduce its changes wherever the data was the same before,
  // between MULTI and EXEC if there are several. A SELECT precedes the first request for another
  // database than that of the previous one, in this unit or the one before it.
  //
  // The journal may take the bytes (OutputBuffer::Take, O(1) for a long unit); what it leaves is
  // discarded. Returns the position at which the unit ends: with the same order as units have, and
  // never 0.
  virtual uint64_t Append(OutputBuffer& unit) = 0;

  // Whether it wants messages, too: those of PUBLISH and SPUBLISH, which change no data and belong
  // to replicas only. Asked once, when the journal is attached.
  virtual bool TakesMessages() const { return false; }

  // Requests of a unit that publish something, after the unit's changes, if it made any.
  virtual void AppendMessages(OutputBuffer& messages) { messages.Clear(); }
};

}  // namespace zsetd
