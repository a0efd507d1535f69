#pragma once

#include <cstddef>

#include "server/engine/client/client.h"

namespace zsetd {

// The memory that a client takes, in bytes as the allocator counts them. Sums are updated at each
// change, so each function is O(1). Shared memory, such as the row of a channel, counts in full for
// each client.

// All of it, its buffers and its connection included.
size_t BytesUsedBy(const Client& client);

// The state that the server keeps for the client: its queue, watches, subscriptions, waits and
// names.
size_t KeptBytes(const Client& client);

// The most that the server keeps for a client while maxmemory is exceeded, apart from its name and
// the queue of MULTI.
inline constexpr size_t kAlwaysKeptBytes = 16u << 10;

// The words of a postponed request, and the memory of waiting for its keys. The words of any other
// request are views into its input.
size_t WaitingBytes(const Client& client);

// The memory of the queue of MULTI; and of the queue with the watches.
size_t QueueBytes(const Client& client);
size_t TransactionBytes(const Client& client);

// The buffers of replies and messages, including those that are being sent.
size_t OutputCapacity(const Client& client);

}  // namespace zsetd
