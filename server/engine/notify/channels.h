#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/engine/client/channel_kind.h"

namespace zsetd {

class Client;

// The subscribers of channels and patterns, and the delivery of messages. A message on a shard
// channel reaches subscribers of that channel only: there are no patterns of them, and a channel of
// the same name is another.
//
// Invariant: a client's `listening_bytes` is the sum, for all that it listens to, of BytesPerName()
// and the additional bytes of the channel.
class Channels {
 public:
  // `on_left(name)` is called when a channel has lost its last subscriber.
  explicit Channels(std::function<void(std::string_view)> on_left) : on_left_(std::move(on_left)) {}

  // The bytes that listening to a channel of this name takes, as if no other client did.
  static size_t BytesPerName(size_t name_bytes);

  // Counts these bytes, which another class keeps for the channel, as memory of each subscriber, in
  // place of the additional bytes before. Precondition: it has subscribers. O(listeners).
  void SetAdditionalBytes(std::string_view channel, size_t bytes);
  size_t AdditionalBytes(ChannelKind kind, std::string_view name) const;

  // The memory that the server keeps for the subscriber of the channel for which it keeps most.
  // O(listeners).
  size_t MostKeptBytes(std::string_view channel) const;

  // False if the client listened already.
  bool Subscribe(Client& client, ChannelKind kind, std::string_view name);

  // False if it was not subscribed.
  bool Unsubscribe(Client& client, ChannelKind kind, std::string_view name);

  void RemoveAll(Client& client);

  // Sends the message to all subscribers of the channel, then to those whose pattern matches it,
  // each in the order they came. Returns how many messages that were. O(listeners + patterns).
  size_t Publish(std::string_view channel, std::string_view message);

  // Like the function above, but only for subscribers of the channel itself: a pattern does not
  // show whether the user may read the key that the message is about. O(listeners).
  size_t PublishToChannel(std::string_view channel, std::string_view message);

  // Like the function above, for a shard channel. O(listeners).
  size_t PublishToShard(std::string_view channel, std::string_view message);

  // Unsubscribes all clients from a shard channel and sends each a confirmation, as if it had asked
  // for it. O(listeners).
  void EndShardChannel(const std::string& channel);

  // The names with subscribers that match the pattern, in order.
  std::vector<std::string_view> Matching(ChannelKind kind, std::string_view pattern) const;

  // Whether there is any subscriber of channels or patterns.
  bool HasListeners() const {
    return count(ChannelKind::kChannel) + count(ChannelKind::kPattern) > 0;
  }

  size_t ListenerCount(ChannelKind kind, std::string_view name) const;
  size_t count(ChannelKind kind) const { return ListenersOf(kind).size(); }  // of distinct names

 private:
  struct Row {
    std::vector<Client*> clients;
    size_t additional_bytes = 0;
  };
  using Listeners = std::map<std::string, Row, std::less<>>;

  const Listeners& ListenersOf(ChannelKind kind) const;
  Listeners& ListenersOf(ChannelKind kind);
  const Row* Find(ChannelKind kind, std::string_view name) const;  // null without listeners

  // Sends a message of that kind to all subscribers of the channel. Returns their number.
  size_t Send(ChannelKind kind, std::string_view channel, std::string_view message);

  const std::function<void(std::string_view)> on_left_;
  std::array<Listeners, kChannelKinds> listeners_;
};

}  // namespace zsetd
