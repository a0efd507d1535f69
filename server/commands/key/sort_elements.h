#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/keyspace/entry.h"
#include "server/commands/key/sort_request.h"

namespace zsetd {

// The elements of a list, a set or a sorted set, in its order. Valid until the key changes.
class SortElements {
 public:
  // The elements that SORT starts from: all, or only the requested ones if they are not sorted. No
  // entry is no elements.
  SortElements(const Entry* entry, const SortRequest& request);
  SortElements(const SortElements&) = delete;

  const std::vector<std::string_view>& views() const { return views_; }

 private:
  void Load(const List& list, RankRange range, bool reversed);
  void Load(const Set& set, RankRange range);
  void Load(const SortedSet& set, RankRange range, bool reversed);

  std::vector<std::string> copies_;  // of members, which a sorted set has no bytes of to be viewed
  std::vector<std::string_view> views_;
};

// Whether SORT can read it.
bool IsSortable(const Entry& entry);

}  // namespace zsetd
