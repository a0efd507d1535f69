#include "server/engine/client/client_memory.h"

#include <string>
#include <vector>

namespace zsetd {
namespace {

size_t BytesOf(const std::vector<std::string>& words) {
  size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size();
  return bytes;
}

size_t ListeningBytes(const Client& client) {
  constexpr size_t kBytesPerName = sizeof(std::string) + 40;  // with its node
  size_t bytes = 0;
  for (size_t kind = 0; kind < kChannelKinds; ++kind) {
    for (const std::string& name : client.listens_to(ChannelKind(kind))) {
      bytes += kBytesPerName + name.size();
    }
  }
  return bytes;
}

}  // namespace

size_t WaitingBytes(const Client& client) {
  return BytesOf(client.held_back) + (client.wait ? BytesOf(client.wait->words) : 0);
}

size_t BytesUsedBy(const Client& client) {
  return sizeof(client) + client.input_capacity + client.transaction.bytes + WaitingBytes(client) +
         ListeningBytes(client) + client.tracking.prefix_bytes + client.out.capacity() +
         client.pushes.capacity() + client.sending_bytes + client.LongReplyBytes();
}

}  // namespace zsetd
