#pragma once

#include <cstddef>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

// The output of a replica, which it shares with others. The network takes it a piece at a time,
// after the piece before was sent. When more output is available, the source wakes the client.
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
