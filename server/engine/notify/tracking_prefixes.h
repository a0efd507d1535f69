#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

class Client;

// Who is told, by broadcast, of all changes of keys that begin with which prefix, and what has
// changed since they were told last.
class TrackingPrefixes {
 public:
  using Tell = std::function<void(Client&, std::span<const std::string_view> keys)>;

  // The client does not have the prefix yet; or it has it.
  void Add(Client& client, const std::string& prefix);
  void Remove(Client& client, const std::string& prefix);

  // Notes that a key has changed. `by` is the id of the client that did it, or 0.
  // O(length of the longest prefix * log of prefixes).
  void Touch(std::string_view key, uint64_t by);

  // Hands out what was noted: to each client once for each of its prefixes, the keys in order.
  void Broadcast(const Tell& tell);

  size_t count() const { return prefixes_.size(); }
  bool HasNews() const { return has_news_; }

 private:
  struct Prefix {
    std::vector<Client*> listeners;           // in the order they came
    std::map<std::string, uint64_t> changed;  // and by whom last
  };

  std::map<std::string, Prefix, std::less<>> prefixes_;
  size_t longest_ = 0;  // no prefix is longer
  bool has_news_ = false;
};

}  // namespace zsetd
