#pragma once

#include <cstddef>
#include <string_view>

#include "core/keyspace/entry.h"
#include "core/util/allocation_size.h"
#include "protocol/resp/reply_writer.h"
#include "server/engine/client/wait.h"

namespace zsetd {

// Waits until a key holds a T and has changed (BLPOP, BZPOPMIN and similar). The reply at the
// timeout is a null array.
template <class T>
class KeyWait : public Wait {
 public:
  bool CanServe(std::string_view, const Entry& entry, Millis) const override {
    return entry.Holds<T>();
  }
  void GiveUp(ReplyWriter& reply) const override { reply.NullArray(); }
  size_t BytesUsed() const override { return AllocationSize(sizeof(*this)); }
};

}  // namespace zsetd
