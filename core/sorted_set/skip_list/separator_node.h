#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/sorted_set/skip_list/separator_levels.h"

// The nodes of core/sorted_set/skip_list/separator_levels.h, used by no other class.
namespace zsetd {

union SeparatorLevels::Child {
  uint32_t block;
  void* node;
};

// One entry of a node, on its way in or out.
struct SeparatorLevels::Entry {
  uint64_t code = 0;
  std::string tie;  // of the member; empty where the code alone separates
  uint32_t span = 0;
  Child child;
};

// A run of entries of one level. Each part of an entry has an array of its own, for the search, in
// one allocation with the node.
struct SeparatorLevels::Node {
  static Node* Make(size_t room);
  static void Free(Node* node);

  uint32_t count = 0;
  const uint32_t room;            // entries; kFanout, or fewer in a node that is the only one
  std::vector<std::string> ties;  // none, or one for each entry
  uint64_t* const codes;
  Child* const children;
  uint32_t* const spans;

  Node* NodeAt(size_t slot) const { return static_cast<Node*>(children[slot].node); }
  std::string_view TieAt(size_t slot) const {
    return ties.empty() ? std::string_view() : std::string_view(ties[slot]);
  }
  size_t Span() const { return std::accumulate(spans, spans + count, size_t{0}); }
  size_t BytesUsed() const;

  void Insert(size_t slot, Entry entry);  // the node is not full
  void Erase(size_t slot) { Erase(slot, slot + 1); }
  void Erase(size_t first, size_t last);

  // Moves the entries from `first` on behind those of `other`.
  void MoveTail(size_t first, Node& other);

 private:
  static constexpr size_t kEntryBytes = sizeof(*codes) + sizeof(*children) + sizeof(*spans);
  explicit Node(uint32_t room);
};

template <class Change>
void SeparatorLevels::Changing(Node& node, Change change) {
  const size_t before = node.BytesUsed();
  change();
  bytes_used_ += node.BytesUsed() - before;
}

}  // namespace zsetd
