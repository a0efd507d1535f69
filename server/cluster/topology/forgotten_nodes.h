#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace zsetd {

// The forgotten nodes that a node remembers, and those of a message.
inline constexpr size_t kMostForgottenNodes = 1024;

// The nodes that gossip must not add again, and until when. Other nodes may name any number of
// them, so there are at most kMostForgottenNodes. Instants are milliseconds since 1970.
class ForgottenNodes {
 public:
  using ByEnd = std::set<std::pair<int64_t, std::string>>;

  // Replaces an earlier end. The node that ends first makes room if there are too many. O(log n).
  void Add(const std::string& id, int64_t until);

  // Whether the node is still forgotten. O(log n).
  bool Contains(std::string_view id, int64_t now) const;

  void RemoveEnded(int64_t now);
  void Clear();

  // In the order of their ends.
  const ByEnd& by_end() const { return by_end_; }

 private:
  std::map<std::string, int64_t, std::less<>> ends_;
  ByEnd by_end_;
};

}  // namespace zsetd
