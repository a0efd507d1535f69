#include "server/engine/notify/channels.h"

#include <algorithm>
#include <cassert>

#include "core/util/allocation_size.h"
#include "core/util/glob.h"
#include "server/engine/client/client.h"
#include "server/engine/client/client_memory.h"

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

const Channels::Row* Channels::Find(ChannelKind kind, std::string_view name) const {
  const Listeners& listeners = ListenersOf(kind);
  const auto found = listeners.find(name);
  return found == listeners.end() ? nullptr : &found->second;
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
  Row& row = ListenersOf(kind)[std::string(name)];
  row.clients.push_back(&client);
  client.listening_bytes_ += BytesPerName(name.size()) + row.additional_bytes;
  return true;
}

void Channels::SetAdditionalBytes(std::string_view channel, size_t bytes) {
  const auto found = ListenersOf(ChannelKind::kChannel).find(channel);
  assert(found != ListenersOf(ChannelKind::kChannel).end());
  Row& row = found->second;
  for (Client* client : row.clients) {
    client->listening_bytes_ += bytes - row.additional_bytes;
    client->NoteMemory();
  }
  row.additional_bytes = bytes;
}

size_t Channels::AdditionalBytes(ChannelKind kind, std::string_view name) const {
  const Row* const row = Find(kind, name);
  return row == nullptr ? 0 : row->additional_bytes;
}

size_t Channels::MostKeptBytes(std::string_view channel) const {
  const Row* const row = Find(ChannelKind::kChannel, channel);
  size_t most = 0;
  if (row == nullptr) return most;
  for (const Client* client : row->clients) most = std::max(most, KeptBytes(*client));
  return most;
}

// `name` may be a view of the client's own string, so that is erased last.
bool Channels::Unsubscribe(Client& client, ChannelKind kind, std::string_view name) {
  Client::Names& names = client.listens_to_[static_cast<size_t>(kind)];
  const auto own = names.find(name);
  if (own == names.end()) return false;
  Listeners& listeners = ListenersOf(kind);
  const auto found = listeners.find(name);
  assert(found != listeners.end());
  Row& row = found->second;
  std::erase(row.clients, &client);
  client.listening_bytes_ -= BytesPerName(own->size()) + row.additional_bytes;
  if (row.clients.empty()) {
    listeners.erase(found);
    if (kind == ChannelKind::kChannel) on_left_(name);
  }
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
  const Row* const row = Find(kind, channel);
  if (row == nullptr) return 0;
  for (Client* client : row->clients) {
    client->mailbox.Push([&](ReplyWriter& reply) {
      reply.Push(3);
      reply.Bulk(kind == ChannelKind::kShardChannel ? "smessage" : "message");
      reply.Bulk(channel);
      reply.Bulk(message);
    });
  }
  return row->clients.size();
}

size_t Channels::Publish(std::string_view channel, std::string_view message) {
  size_t receivers = Send(ChannelKind::kChannel, channel, message);
  for (const auto& [pattern, row] : ListenersOf(ChannelKind::kPattern)) {
    if (!GlobMatches(pattern, channel)) continue;
    for (Client* client : row.clients) SendPatternMessage(*client, pattern, channel, message);
    receivers += row.clients.size();
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
  const std::vector<Client*> clients = found->second.clients;
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
  for (const auto& [name, row] : ListenersOf(kind)) {
    if (GlobMatches(pattern, name)) names.push_back(name);
  }
  return names;
}

size_t Channels::ListenerCount(ChannelKind kind, std::string_view name) const {
  const Row* const row = Find(kind, name);
  return row == nullptr ? 0 : row->clients.size();
}

}  // namespace zsetd
