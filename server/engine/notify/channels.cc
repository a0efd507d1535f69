#include "server/engine/notify/channels.h"

#include <algorithm>
#include <cassert>

#include "core/util/allocation_size.h"
#include "core/util/glob.h"
#include "server/engine/client/client.h"

namespace zsetd {
namespace {

void SendPatternMessage(Client& client, std::string_view pattern, std::string_view channel,
                        std::string_view message) {
  client.mailbox.Push([&](ReplyWriter& reply) {
    reply.Push(4);
    reply.Bulk("pmessage");
    reply.Bulk(pattern);
    reply.Bulk(channel);
    reply.Bulk(message);
  });
}

}  // namespace

const Channels::Listeners& Channels::ListenersOf(ChannelKind kind) const {
  return listeners_[static_cast<size_t>(kind)];
}

Channels::Listeners& Channels::ListenersOf(ChannelKind kind) {
  return listeners_[static_cast<size_t>(kind)];
}

// The name among those of the client, and with its listeners, whose vector may have room for twice
// as many.
size_t Channels::BytesPerName(size_t name_bytes) {
  constexpr size_t kMapNodeBytes = 4 * sizeof(void*);  // without its element
  constexpr size_t kOwnNode = AllocationSize(kMapNodeBytes + sizeof(std::string));
  constexpr size_t kNode = AllocationSize(kMapNodeBytes + sizeof(Listeners::value_type));
  constexpr size_t kListener = AllocationSize(2 * sizeof(Client*));
  return kOwnNode + kNode + kListener + 2 * StringAllocationSize(name_bytes);
}

bool Channels::Subscribe(Client& client, ChannelKind kind, std::string_view name) {
  if (!client.listens_to_[static_cast<size_t>(kind)].emplace(name).second) return false;
  ListenersOf(kind)[std::string(name)].push_back(&client);
  client.listening_bytes_ += BytesPerName(name.size());
  return true;
}

// `name` may be a view of the client's own string, so that is erased last.
bool Channels::Unsubscribe(Client& client, ChannelKind kind, std::string_view name) {
  Client::Names& names = client.listens_to_[static_cast<size_t>(kind)];
  const auto own = names.find(name);
  if (own == names.end()) return false;
  Listeners& listeners = ListenersOf(kind);
  const auto found = listeners.find(name);
  assert(found != listeners.end());
  std::erase(found->second, &client);
  if (found->second.empty()) {
    listeners.erase(found);
    if (kind == ChannelKind::kChannel) on_left_(name);
  }
  client.listening_bytes_ -= BytesPerName(own->size());
  names.erase(own);
  return true;
}

void Channels::RemoveAll(Client& client) {
  for (size_t kind = 0; kind < kChannelKinds; ++kind) {
    const auto& names = client.listens_to(ChannelKind(kind));
    while (!names.empty()) Unsubscribe(client, ChannelKind(kind), *names.begin());
  }
  assert(client.listening_bytes() == 0);
}

size_t Channels::Send(ChannelKind kind, std::string_view channel, std::string_view message) {
  const Listeners& listeners = ListenersOf(kind);
  const auto found = listeners.find(channel);
  if (found == listeners.end()) return 0;
  for (Client* client : found->second) {
    client->mailbox.Push([&](ReplyWriter& reply) {
      reply.Push(3);
      reply.Bulk(kind == ChannelKind::kShardChannel ? "smessage" : "message");
      reply.Bulk(channel);
      reply.Bulk(message);
    });
  }
  return found->second.size();
}

size_t Channels::Publish(std::string_view channel, std::string_view message) {
  size_t receivers = Send(ChannelKind::kChannel, channel, message);
  for (const auto& [pattern, clients] : ListenersOf(ChannelKind::kPattern)) {
    if (!GlobMatches(pattern, channel)) continue;
    for (Client* client : clients) SendPatternMessage(*client, pattern, channel, message);
    receivers += clients.size();
  }
  return receivers;
}

size_t Channels::PublishToChannel(std::string_view channel, std::string_view message) {
  return Send(ChannelKind::kChannel, channel, message);
}

size_t Channels::PublishToShard(std::string_view channel, std::string_view message) {
  return Send(ChannelKind::kShardChannel, channel, message);
}

void Channels::EndShardChannel(const std::string& channel) {
  constexpr ChannelKind kKind = ChannelKind::kShardChannel;
  const auto found = ListenersOf(kKind).find(channel);
  if (found == ListenersOf(kKind).end()) return;
  const std::vector<Client*> clients = found->second;
  for (Client* client : clients) {
    Unsubscribe(*client, kKind, channel);
    client->mailbox.Push([&](ReplyWriter& reply) {
      reply.Push(3);
      reply.Bulk("sunsubscribe");
      reply.Bulk(channel);
      reply.Integer(static_cast<int64_t>(client->listens_to(kKind).size()));
    });
  }
}

std::vector<std::string_view> Channels::Matching(ChannelKind kind, std::string_view pattern) const {
  std::vector<std::string_view> names;
  for (const auto& [name, clients] : ListenersOf(kind)) {
    if (GlobMatches(pattern, name)) names.push_back(name);
  }
  return names;
}

size_t Channels::ListenerCount(ChannelKind kind, std::string_view name) const {
  const Listeners& listeners = ListenersOf(kind);
  const auto found = listeners.find(name);
  return found == listeners.end() ? 0 : found->second.size();
}

}  // namespace zsetd
