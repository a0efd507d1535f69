#pragma once

#include <cstddef>

#include "server/engine/client/client.h"

namespace zsetd {

// The memory that a client takes, its buffers included. O(channels it listens to).
size_t BytesUsedBy(const Client& client);

// Of these the words of a request that is being put aside until it can be run. Those of any other
// are views into its input. O(words).
size_t WaitingBytes(const Client& client);

}  // namespace zsetd
