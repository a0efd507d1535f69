#include "server/engine/channels.h"

#include <algorithm>

#include "core/glob.h"
#include "server/engine/client.h"

namespace zsetd {
namespace {

using Names = std::set<std::string, std::less<>>;
using Listeners = std::map<std::string, std::vector<Client*>, std::less<>>;

bool Add(Client& client, std::string_view name, Names& names, Listeners& listeners) {
  if (!names.emplace(name).second) return false;
  listeners[std::string(name)].push_back(&client);
  return true;
}

// `name` may be the very string that `names` holds, so that goes last.
bool Remove(Client& client, std::string_view name, Names& names, Listeners& listeners) {
  const auto own = names.find(name);
  if (own == names.end()) return false;
  const auto found = listeners.find(name);
  std::erase(found->second, &client);
  if (found->second.empty()) listeners.erase(found);
  names.erase(own);
  return true;
}

void SendMessage(Client& client, std::string_view channel, std::string_view message) {
  client.Push([&](ReplyWriter& reply) {
    reply.Push(3);
    reply.Bulk("message");
    reply.Bulk(channel);
    reply.Bulk(message);
  });
}

void SendPatternMessage(Client& client, std::string_view pattern, std::string_view channel,
                        std::string_view message) {
  client.Push([&](ReplyWriter& reply) {
    reply.Push(4);
    reply.Bulk("pmessage");
    reply.Bulk(pattern);
    reply.Bulk(channel);
    reply.Bulk(message);
  });
}

}  // namespace

bool Channels::Subscribe(Client& client, std::string_view channel) {
  return Add(client, channel, client.channels, channels_);
}

bool Channels::SubscribePattern(Client& client, std::string_view pattern) {
  return Add(client, pattern, client.patterns, patterns_);
}

bool Channels::Unsubscribe(Client& client, std::string_view channel) {
  return Remove(client, channel, client.channels, channels_);
}

bool Channels::UnsubscribePattern(Client& client, std::string_view pattern) {
  return Remove(client, pattern, client.patterns, patterns_);
}

void Channels::RemoveAll(Client& client) {
  while (!client.channels.empty()) Unsubscribe(client, *client.channels.begin());
  while (!client.patterns.empty()) UnsubscribePattern(client, *client.patterns.begin());
}

size_t Channels::Publish(std::string_view channel, std::string_view message) {
  size_t receivers = 0;
  if (const auto found = channels_.find(channel); found != channels_.end()) {
    for (Client* client : found->second) SendMessage(*client, channel, message);
    receivers += found->second.size();
  }
  for (const auto& [pattern, clients] : patterns_) {
    if (!GlobMatches(pattern, channel)) continue;
    for (Client* client : clients) SendPatternMessage(*client, pattern, channel, message);
    receivers += clients.size();
  }
  return receivers;
}

std::vector<std::string_view> Channels::Matching(std::string_view pattern) const {
  std::vector<std::string_view> names;
  for (const auto& [channel, clients] : channels_) {
    if (GlobMatches(pattern, channel)) names.push_back(channel);
  }
  return names;
}

size_t Channels::ListenerCount(std::string_view channel) const {
  const auto found = channels_.find(channel);
  return found == channels_.end() ? 0 : found->second.size();
}

}  // namespace zsetd
