#pragma once

#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/util/time.h"

namespace zsetd {

// The keys of a writable replica that its own clients changed and that have deadlines, of the key
// or of elements. Its master may not know these deadlines, and then never deletes these keys and
// elements. A key is in here until its earliest deadline, or until a client takes its deadlines
// away. The stream of the master may have changed it in the meantime: whether anything is due is
// decided when the key is taken.
class OwnDeadlines {
 public:
  using Key = std::pair<int, std::string>;  // with the number of its database

  // The key has this deadline, or none. O(log n).
  void Set(Key key, std::optional<Millis> deadline) {
    if (!deadline && deadlines_.empty()) return;
    const auto found = deadlines_.find(key);
    if (found != deadlines_.end()) {
      order_.erase({found->second, key});
      deadlines_.erase(found);
    }
    if (!deadline) return;
    order_.emplace(*deadline, key);
    deadlines_.emplace(std::move(key), *deadline);
  }

  // The earliest deadline; nothing if there is none.
  std::optional<Millis> Next() const {
    return order_.empty() ? std::nullopt : std::optional(order_.begin()->first);
  }

  // Removes the first key; there is one.
  Key TakeFirst() {
    assert(!order_.empty() && order_.size() == deadlines_.size());
    Key key = order_.extract(order_.begin()).value().second;
    deadlines_.erase(key);
    return key;
  }

  // The databases exchange their keys. O(n log n).
  void Swap(int a, int b) {
    for (auto& [key, deadline] : std::exchange(deadlines_, {})) {
      const int database = key.first == a ? b : key.first == b ? a : key.first;
      deadlines_.emplace(Key(database, key.second), deadline);
    }
    order_.clear();
    for (const auto& [key, deadline] : deadlines_) order_.emplace(deadline, key);
    assert(order_.size() == deadlines_.size());
  }

  // All keys of the database are deleted. O(n).
  void Clear(int database) {
    std::erase_if(deadlines_, [&](const auto& each) { return each.first.first == database; });
    std::erase_if(order_, [&](const auto& each) { return each.second.first == database; });
  }

  void Clear() {
    deadlines_.clear();
    order_.clear();
  }

 private:
  std::map<Key, Millis> deadlines_;
  std::set<std::pair<Millis, Key>> order_;  // the same by deadline
};

}  // namespace zsetd
