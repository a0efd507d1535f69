#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/prefix_tree.h"

namespace zsetd {

class Client;

// The clients that receive broadcasts for each prefix, and the keys that have changed since the
// last broadcast.
//
// A changed key is kept once, however many prefixes it begins with, and only if it begins with one.
class TrackingPrefixes {
 public:
  using Send = std::function<void(Client&, std::span<const std::string_view> keys)>;

  // The client does not have the prefix yet; or it has it.
  void Add(Client& client, const std::string& prefix);
  void Remove(Client& client, const std::string& prefix);

  // Notes that a key has changed. `by` is the id of the client that did it, or 0. O(length of the
  // key), and O(log of the keys noted).
  void Touch(std::string_view key, uint64_t by);

  // Sends the recorded keys: one message to each client for each of its prefixes, prefixes and keys
  // in order. O(bytes of the recorded keys + bytes sent).
  void Broadcast(const Send& tell);

  size_t count() const { return prefixes_.size(); }
  bool HasNews() const { return !changed_.empty(); }

  // The memory that a prefix of this size takes for one client.
  static size_t BytesFor(size_t prefix_size);

 private:
  struct Change {
    uint64_t by;    // the client that made the last one
    uint64_t time;  // of the last one, counted in touches
  };
  using Changes = std::map<std::string, Change, std::less<>>;

  // Without initializers: clang takes a nested class that has them for one without a default
  // constructor as long as the enclosing class is incomplete. The tree value-initializes it.
  struct Prefix {
    std::vector<Client*> listeners;               // in the order they came
    uint64_t since;                               // when it was added; earlier changes are not sent
    std::vector<const Changes::value_type*> due;  // during a broadcast
  };

  static void SendToListeners(const Prefix& prefix, const Send& tell);

  PrefixTree<Prefix> prefixes_;
  Changes changed_;
  uint64_t time_ = 0;
};

}  // namespace zsetd
