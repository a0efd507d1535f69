#pragma once

#include <cstddef>

#include "server/engine/client/client.h"

namespace zsetd {

// The memory that a client takes, in bytes as the allocator counts them. All of it is added up
// where it changes, so that each of these is O(1). What several clients share, such as the row of a
// channel, counts for each of them as if it had it alone.

// All of it, its buffers and its connection included.
size_t BytesUsedBy(const Client& client);

// What the client has asked the server to keep until further notice: its queue, what it watches and
// listens to, what it waits for, the names that it has.
size_t KeptBytes(const Client& client);

// The words of a request that is put aside until it can be run, and what waiting for its keys
// takes. Those of any other request are views into its input.
size_t WaitingBytes(const Client& client);

// What MULTI has queued; and that with what is watched.
size_t QueueBytes(const Client& client);
size_t TransactionBytes(const Client& client);

// The buffers of replies and messages: those written to, and what is being sent.
size_t OutputCapacity(const Client& client);

}  // namespace zsetd
