#pragma once

#include <string_view>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "core/util/byte_arena.h"

namespace zsetd {

// Elements with different members, in any order, on their way to a set.
class ElementList {
 public:
  // The member's bytes are copied. O(1), amortised.
  void Add(std::string_view member, double score) {
    elements_.push_back({arena_.Keep(member), score});
  }

  // The set of everything added. O(n log n).
  SortedSet Build() { return SortedSet::Of(elements_); }

 private:
  std::vector<Element> elements_;
  ByteArena arena_;
};

}  // namespace zsetd
