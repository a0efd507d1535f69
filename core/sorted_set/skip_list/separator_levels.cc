#include "core/sorted_set/skip_list/separator_levels.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <utility>

#include "core/sorted_set/skip_list/separator_node.h"

namespace zsetd {

Levels::Levels(uint32_t child, size_t span) : top_(Node::Make(kLeastRoom)), size_(span) {
  Entry entry;
  entry.span = span;
  entry.child.block = child;
  top_->Insert(0, std::move(entry));
  bytes_used_ = top_->BytesUsed();
}

Levels::Levels(std::vector<Leaf> leaves) {
  assert(!leaves.empty());
  std::vector<Entry> entries;
  entries.reserve(leaves.size());
  for (Leaf& leaf : leaves) {
    size_ += leaf.span;
    entries.push_back({leaf.code, std::move(leaf.tie), static_cast<uint32_t>(leaf.span), {}});
    entries.back().child.block = leaf.child;
  }
  for (;; ++height_) {
    entries = NodesOf(entries);
    if (entries.size() == 1) break;
  }
  top_ = static_cast<Node*>(entries[0].child.node);
}

// Puts the entries into new nodes, which are full but for the last one. Returns their entries.
std::vector<Levels::Entry> Levels::NodesOf(std::span<Entry> entries) {
  std::vector<Entry> above;
  const bool is_only = height_ == 1 && entries.size() <= kFanout;
  const size_t least_room = std::max(kLeastRoom, std::bit_ceil(entries.size()));
  const size_t room = is_only ? std::min(least_room, kFanout) : kFanout;
  while (!entries.empty()) {
    Node& node = *Node::Make(room);
    above.push_back({entries[0].code, std::move(entries[0].tie), 0, {}});
    Entry& of_node = above.back();
    entries[0].tie.clear();
    of_node.child.node = &node;
    const size_t count = std::min(entries.size(), kFanout);
    for (Entry& entry : entries.first(count)) {
      of_node.span += entry.span;
      node.Insert(node.count, std::move(entry));
    }
    bytes_used_ += node.BytesUsed();
    entries = entries.subspan(count);
  }
  return above;
}

Levels::Levels(const Levels& other)
    : top_(Cloned(*other.top_, other.height_)),
      height_(other.height_),
      size_(other.size_),
      bytes_used_(BytesUnder(*top_, height_)) {}

Levels::Node* Levels::Cloned(const Node& node, int height) {
  Node& clone = *Node::Make(node.room);
  for (size_t slot = 0; slot < node.count; ++slot) {
    Entry entry{node.codes[slot], std::string(node.TieAt(slot)), node.spans[slot],
                node.children[slot]};
    if (height > 1) entry.child.node = Cloned(*node.NodeAt(slot), height - 1);
    clone.Insert(slot, std::move(entry));
  }
  return &clone;
}

size_t Levels::BytesUnder(const Node& node, int height) const {
  size_t bytes = node.BytesUsed();
  for (size_t slot = 0; height > 1 && slot < node.count; ++slot) {
    bytes += BytesUnder(*node.NodeAt(slot), height - 1);
  }
  return bytes;
}

Levels::~Levels() { FreeAll(top_, height_); }

void Levels::FreeAll(Node* node, int height) {
  for (size_t slot = 0; height > 1 && slot < node->count; ++slot) {
    FreeAll(node->NodeAt(slot), height - 1);
  }
  Node::Free(node);
}

// The last entry whose separator is not above the key, the first one counting as below everything.
size_t Levels::SlotOf(const Node& node, uint64_t code, std::string_view member) {
  const auto last_of = [&](size_t slot, size_t end, auto is_not_above) {
    for (size_t left = end - slot - 1; left > 0;) {
      const size_t half = (left + 1) / 2;
      const bool passed = is_not_above(slot + half);
      slot = passed ? slot + half : slot;
      left = passed ? left - half : half - 1;
    }
    return slot;
  };
  const size_t below = last_of(0, node.count, [&](size_t i) { return node.codes[i] < code; });
  if (below + 1 == node.count || node.codes[below + 1] != code) return below;
  const size_t equal = last_of(below, node.count, [&](size_t i) { return node.codes[i] <= code; });
  return last_of(below, equal + 1, [&](size_t i) { return node.TieAt(i) <= member; });
}

void Levels::Finish(Path& path) const {
  const Path::Step& last = path.steps[height_ - 1];
  path.height = height_;
  path.child = last.node->children[last.slot].block;
}

Levels::Path Levels::Find(uint64_t code, std::string_view member) const {
  Path path;
  Node* node = top_;
  for (int level = 0;; ++level) {
    const size_t slot = SlotOf(*node, code, member);
    path.steps[level] = {node, slot};
    path.before += std::accumulate(node->spans, node->spans + slot, size_t{0});
    if (level + 1 == height_) break;
    node = node->NodeAt(slot);
  }
  Finish(path);
  return path;
}

// To the first block.
Levels::Path Levels::First() const {
  Path path;
  Node* node = top_;
  for (int level = 0;; ++level) {
    path.steps[level] = {node, 0};
    if (level + 1 == height_) break;
    node = node->NodeAt(0);
  }
  Finish(path);
  return path;
}

Levels::Path Levels::FindRank(size_t rank) const {
  assert(rank < size_);
  Path path;
  Node* node = top_;
  for (int level = 0;; ++level) {
    size_t slot = 0;
    for (; path.before + node->spans[slot] <= rank; ++slot) path.before += node->spans[slot];
    path.steps[level] = {node, slot};
    if (level + 1 == height_) break;
    node = node->NodeAt(slot);
  }
  Finish(path);
  return path;
}

void Levels::Add(const Path& path, ptrdiff_t elements) {
  size_ += elements;
  for (int level = 0; level < height_; ++level) {
    path.steps[level].node->spans[path.steps[level].slot] += static_cast<uint32_t>(elements);
  }
}

void Levels::Check() const {
  assert(top_->Span() == size_);
  CheckNode(*top_, height_);
}

void Levels::CheckNode(const Node& node, int height) const {
  assert(node.count > (height == height_ && height > 1 ? 1 : 0));
  assert(node.count <= node.room && (height_ == 1 || node.room == kFanout));
  assert(node.ties.empty() || node.ties.size() == node.count);
  for (size_t slot = 0; slot < node.count; ++slot) {
    assert(slot < 2 || std::pair(node.codes[slot - 1], node.TieAt(slot - 1)) <
                           std::pair(node.codes[slot], node.TieAt(slot)));
    if (height == 1) continue;
    assert(node.NodeAt(slot)->Span() == node.spans[slot]);
    CheckNode(*node.NodeAt(slot), height - 1);
  }
}

}  // namespace zsetd
