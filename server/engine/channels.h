#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

class Client;

// Who listens to which channel and to which pattern of channels, and what is said there.
class Channels {
 public:
  // False if the client listened already.
  bool Subscribe(Client& client, std::string_view channel);
  bool SubscribePattern(Client& client, std::string_view pattern);

  // False if it did not listen.
  bool Unsubscribe(Client& client, std::string_view channel);
  bool UnsubscribePattern(Client& client, std::string_view pattern);

  void RemoveAll(Client& client);

  // Hands the message to all who listen to the channel, then to those whose pattern matches it,
  // each in the order they came. Returns how many messages that were. O(listeners + patterns).
  size_t Publish(std::string_view channel, std::string_view message);

  // The channels with listeners that match the pattern, in order.
  std::vector<std::string_view> Matching(std::string_view pattern) const;

  size_t ListenerCount(std::string_view channel) const;
  size_t channel_count() const { return channels_.size(); }
  size_t pattern_count() const { return patterns_.size(); }  // distinct ones

 private:
  using Listeners = std::map<std::string, std::vector<Client*>, std::less<>>;

  Listeners channels_;
  Listeners patterns_;
};

}  // namespace zsetd
