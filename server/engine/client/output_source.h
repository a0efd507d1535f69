#pragma once

#include <cstddef>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

// What a replica is sent, which it shares with others: the network takes it a piece at a time, when
// the piece before has been sent. Whoever has more then wakes the client.
class OutputSource {
 public:
  virtual ~OutputSource() = default;

  // Whether there is more that could be sent now.
  virtual bool HasMore() const = 0;

  // Appends the next bytes, some ten KB; or nothing, if there is no more now.
  virtual void Fill(OutputBuffer& out) = 0;

  // The bytes that are kept only because they have not been taken here.
  virtual size_t BytesKept() const = 0;
};

}  // namespace zsetd
