#include "server/engine/client/client_memory.h"

#include "core/util/allocation_size.h"

namespace zsetd {
namespace {

size_t WatchBytes(const Transaction& transaction) {
  return transaction.watch_bytes() +
         AllocationSize(transaction.watched().capacity() * sizeof(transaction.watched()[0]));
}

// The names that it has set may be as long as a word.
size_t NameBytes(const Client& client) {
  return StringAllocationSize(client.name.capacity()) +
         StringAllocationSize(client.lib_name.capacity()) +
         StringAllocationSize(client.lib_version.capacity());
}

}  // namespace

size_t QueueBytes(const Client& client) {
  const Transaction& transaction = client.transaction;
  return transaction.queue_bytes +
         AllocationSize(transaction.queue.capacity() * sizeof(transaction.queue[0]));
}

size_t TransactionBytes(const Client& client) {
  return QueueBytes(client) + WatchBytes(client.transaction);
}

size_t WaitingBytes(const Client& client) {
  return client.postponed_request.allocated_bytes() +
         (client.blocked ? client.blocked->allocated_bytes : 0);
}

size_t OutputCapacity(const Client& client) {
  return AllocationSize(client.output.buffer.capacity()) +
         AllocationSize(client.output.pending_pushes.capacity()) +
         AllocationSize(client.output.sending_capacity);
}

size_t KeptBytes(const Client& client) {
  return TransactionBytes(client) + WaitingBytes(client) + client.listening_bytes() +
         client.tracking().prefix_bytes + NameBytes(client);
}

size_t BytesUsedBy(const Client& client) {
  return client.connection.bytes + client.connection.input_capacity + KeptBytes(client) +
         OutputCapacity(client) + client.output.LongReplyBytes();
}

}  // namespace zsetd
