#pragma once

#include <cstddef>

#include "protocol/resp/reply_writer.h"

namespace zsetd {

// The rest of a reply that as a whole would take too much memory and time. It is written a piece at
// a time as the client reads it; other clients' commands run in between. So it holds the data it
// replies with: no references to keys, no views.
class LongReply {
 public:
  virtual ~LongReply() = default;

  // Writes the next part, which is short, or does a step of the work before it and writes nothing.
  // False if that was the last; there is one at least.
  virtual bool WriteNext(ReplyWriter& reply) = 0;

  // The memory that it keeps; of a copy that several replies share, its part.
  virtual size_t BytesUsed() const = 0;
};

}  // namespace zsetd
