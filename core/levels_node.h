#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/levels.h"

// What the levels of core/levels.h are made of; only they know it.
namespace zsetd {

union Levels::Child {
  uint32_t block;
  void* node;
};

// One entry of a node, on its way in or out.
struct Levels::Entry {
  uint64_t code = 0;
  std::string tie;  // of the member; empty where the code alone separates
  uint32_t span = 0;
  Child child;
};

// A stretch of one level. The parts of its entries stand in arrays of their own, for the search.
struct Levels::Node {
  size_t count = 0;
  std::vector<std::string> ties;  // none, or one for each entry
  std::array<uint64_t, kFanout> codes;
  std::array<uint32_t, kFanout> spans;
  std::array<Child, kFanout> children;

  Node* NodeAt(size_t slot) const { return static_cast<Node*>(children[slot].node); }
  std::string_view TieAt(size_t slot) const {
    return ties.empty() ? std::string_view() : std::string_view(ties[slot]);
  }
  size_t Span() const { return std::accumulate(spans.begin(), spans.begin() + count, size_t{0}); }
  size_t BytesUsed() const;

  void Insert(size_t slot, Entry entry);  // the node is not full
  void Erase(size_t slot) { Erase(slot, slot + 1); }
  void Erase(size_t first, size_t last);

  // Moves the entries from `first` on behind those of `other`.
  void MoveTail(size_t first, Node& other);
};

template <class Change>
void Levels::Changing(Node& node, Change change) {
  const size_t before = node.BytesUsed();
  change();
  bytes_used_ += node.BytesUsed() - before;
}

}  // namespace zsetd
