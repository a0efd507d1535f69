#include "core/sorted_set/skip_list/separator_levels.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <string>
#include <utility>

#include "core/sorted_set/skip_list/separator_node.h"

namespace zsetd {

SeparatorLevels::SeparatorLevels(uint32_t child, size_t span)
    : top_(Node::Make(kLeastRoom)), size_(span) {
  Entry entry;
  entry.span = span;
  entry.child.block = child;
  top_->Insert(0, std::move(entry));
  bytes_used_ = top_->BytesUsed();
}

SeparatorLevels::SeparatorLevels(std::vector<Leaf> leaves) {
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

// Puts the entries into new nodes, which are full except for the last one. Returns their entries.
std::vector<SeparatorLevels::Entry> SeparatorLevels::NodesOf(std::span<Entry> entries) {
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

SeparatorLevels::SeparatorLevels(const SeparatorLevels& other)
    : top_(Cloned(*other.top_, other.height_)),
      height_(other.height_),
      size_(other.size_),
      bytes_used_(BytesUnder(*top_, height_)) {}

SeparatorLevels::Node* SeparatorLevels::Cloned(const Node& node, int height) {
  Node& clone = *Node::Make(node.room);
  for (size_t slot = 0; slot < node.count; ++slot) {
    Entry entry{node.codes[slot], std::string(node.TieAt(slot)), node.spans[slot],
                node.children[slot]};
    if (height > 1) entry.child.node = Cloned(*node.NodeAt(slot), height - 1);
    clone.Insert(slot, std::move(entry));
  }
  return &clone;
}

size_t SeparatorLevels::BytesUnder(const Node& node, int height) const {
  size_t bytes = node.BytesUsed();
  for (size_t slot = 0; height > 1 && slot < node.count; ++slot) {
    bytes += BytesUnder(*node.NodeAt(slot), height - 1);
  }
  return bytes;
}

SeparatorLevels::~SeparatorLevels() { FreeAll(top_, height_); }

void SeparatorLevels::FreeAll(Node* node, int height) {
  for (size_t slot = 0; height > 1 && slot < node->count; ++slot) {
    FreeAll(node->NodeAt(slot), height - 1);
  }
  Node::Free(node);
}

void SeparatorLevels::AppendUnder(const Node& node, int height, std::vector<uint32_t>& children) {
  for (size_t slot = 0; slot < node.count; ++slot) {
    if (height > 1) {
      AppendUnder(*node.NodeAt(slot), height - 1, children);
    } else {
      children.push_back(node.children[slot].block);
    }
  }
}

// The last entry whose separator is not above the key, the first one counting as below everything.
size_t SeparatorLevels::SlotOf(const Node& node, uint64_t code, std::string_view member) {
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

void SeparatorLevels::Finish(Path& path) const {
  const Path::Step& last = path.steps[height_ - 1];
  path.height = height_;
  path.child = last.node->children[last.slot].block;
}

SeparatorLevels::Path SeparatorLevels::Find(uint64_t code, std::string_view member) const {
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
SeparatorLevels::Path SeparatorLevels::First() const {
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

SeparatorLevels::Path SeparatorLevels::FindRank(size_t rank) const {
  assert(rank < size_);
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

void SeparatorLevels::Add(const Path& path, ptrdiff_t elements) {
  size_ += elements;
  for (int level = 0; level < height_; ++level) {
    path.steps[level].node->spans[path.steps[level].slot] += static_cast<uint32_t>(elements);
  }
}

void SeparatorLevels::Check() const {
  assert(top_->Span() == size_);
  CheckNode(*top_, height_);
}

void SeparatorLevels::CheckNode(const Node& node, int height) const {
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

void SeparatorLevels::Split(uint64_t code, std::string_view member, uint32_t child, size_t span) {
  const Path path = Find(code, member);
  const Path::Step& last = path.steps[height_ - 1];
  last.node->spans[last.slot] -= span;
  Entry entry{code, std::string(member), static_cast<uint32_t>(span), {}};
  entry.child.block = child;
  Insert(path, std::move(entry), IsLast(path) ? kFanout : kFanout / 2);
}

void SeparatorLevels::Prepend(uint64_t code, std::string_view member, uint32_t child, size_t span) {
  const Path path = First();
  const Path::Step& first = path.steps[height_ - 1];
  first.node->spans[0] -= span;
  Entry entry{code, std::string(member), static_cast<uint32_t>(span), first.node->children[0]};
  first.node->children[0].block = child;
  Insert(path, std::move(entry), 1);
}

// Puts the entry after the path's last step. A full node keeps the first `kept` of its entries; the
// others move to a new one, whose entry moves one level up. Usually this is half of them. After the
// last entry of all, the new node starts with no other entry; before the first of all, the old one
// keeps no other entry. So elements that arrive in order leave full nodes.
void SeparatorLevels::Insert(const Path& path, Entry entry, size_t kept) {
  for (int level = height_ - 1; level >= 0; --level) {
    Node& node = WithRoom(*path.steps[level].node);
    const size_t slot = path.steps[level].slot + 1;
    if (node.count < kFanout) {
      Changing(node, [&] { node.Insert(slot, std::move(entry)); });
      return;
    }
    entry = SplitNode(node, kept, slot, std::move(entry));
    if (level > 0) path.steps[level - 1].node->spans[path.steps[level - 1].slot] -= entry.span;
  }
  MakeTop(std::move(entry));
}

// Returns the node. If it is the only node and is full, but can grow, returns the larger node that
// replaces it.
SeparatorLevels::Node& SeparatorLevels::WithRoom(Node& node) {
  if (node.count < node.room || node.room == kFanout) return node;
  bytes_used_ -= node.BytesUsed();
  Node& larger = *Node::Make(std::min<size_t>(2 * node.room, kFanout));
  node.MoveTail(0, larger);
  bytes_used_ += larger.BytesUsed();
  Node::Free(&node);
  return *(top_ = &larger);
}

// Whether the block of the path is the last.
bool SeparatorLevels::IsLast(const Path& path) const {
  return std::all_of(path.steps.begin(), path.steps.begin() + height_,
                     [](const Path::Step& step) { return step.slot + 1 == step.node->count; });
}

// Puts the entry at `slot` of the node, which is full: it keeps the first `kept` of its own, a new
// node gets the others. Returns the entry of the new one.
SeparatorLevels::Entry SeparatorLevels::SplitNode(Node& node, size_t kept, size_t slot,
                                                  Entry entry) {
  Node& right = *Node::Make(kFanout);
  const bool stays_left = slot <= kept && kept < kFanout;
  Changing(node, [&] {
    node.MoveTail(kept, right);
    if (stays_left) node.Insert(slot, std::move(entry));
  });
  if (!stays_left) right.Insert(slot - kept, std::move(entry));
  bytes_used_ += right.BytesUsed();
  Entry of_right{
      right.codes[0], std::string(right.TieAt(0)), static_cast<uint32_t>(right.Span()), {}};
  of_right.child.node = &right;
  return of_right;
}

// A new top level over the old one and the entry.
void SeparatorLevels::MakeTop(Entry entry) {
  Node& top = *Node::Make(kFanout);
  Entry first{0, {}, static_cast<uint32_t>(size_ - entry.span), {}};
  first.child.node = top_;
  top.Insert(0, std::move(first));
  top.Insert(1, std::move(entry));
  bytes_used_ += top.BytesUsed();
  top_ = &top;
  ++height_;
  assert(static_cast<size_t>(height_) <= Path().steps.size());
}

void SeparatorLevels::Remove(const Path& path) {
  assert(path.steps[height_ - 1].node->spans[path.steps[height_ - 1].slot] == 0);
  for (int level = height_ - 1; level >= 0; --level) {
    Node& node = *path.steps[level].node;
    Changing(node, [&] { node.Erase(path.steps[level].slot); });
    if (node.count > 0) {
      MergeUnderfull(path, level);
      break;
    }
    bytes_used_ -= node.BytesUsed();
    Node::Free(&node);
  }
  LowerTop();
}

void SeparatorLevels::LowerTop() {
  while (height_ > 1 && top_->count == 1) {
    Node* below = top_->NodeAt(0);
    bytes_used_ -= top_->BytesUsed();
    Node::Free(top_);
    top_ = below;
    --height_;
  }
}

void SeparatorLevels::Cut(size_t first, size_t last, std::vector<uint32_t>& children) {
  assert(first < last && last <= size_ && last - first < size_);
  assert(first < last && last <= size_ && last - first < size_);
  CutNode(*top_, height_, first, last, children);
  size_ -= last - first;
  if (first > 0) MergeUnderfull(FindRank(first - 1), height_ - 1);
  if (first < size_) MergeUnderfull(FindRank(first), height_ - 1);
  LowerTop();
}

// Ranks count from the node's own first element. Entries entirely within the range are removed. An
// entry at either end may lie partly within it and keeps the rest, so no node becomes empty.
void SeparatorLevels::CutNode(Node& node, int height, size_t first, size_t last,
                              std::vector<uint32_t>& children) {
  size_t before = 0, taken_from = node.count, taken_to = 0;
  for (size_t slot = 0; slot < node.count && before < last; ++slot) {
    const size_t begin = before, end = before += node.spans[slot];
    if (end <= first) continue;
    if (begin >= first && end <= last) {
      Take(node.children[slot], height, children);
      taken_from = std::min(taken_from, slot);
      taken_to = slot + 1;
      continue;
    }
    assert(height > 1);
    const size_t part_first = std::max(first, begin), part_last = std::min(last, end);
    CutNode(*node.NodeAt(slot), height - 1, part_first - begin, part_last - begin, children);
    node.spans[slot] -= static_cast<uint32_t>(part_last - part_first);
  }
  if (taken_from < taken_to) Changing(node, [&] { node.Erase(taken_from, taken_to); });
}

// Frees the nodes under the entry of a node of that height, and reports the blocks.
void SeparatorLevels::Take(Child child, int height, std::vector<uint32_t>& children) {
  if (height == 1) return children.push_back(child.block);
  Node* node = static_cast<Node*>(child.node);
  for (size_t slot = 0; slot < node->count; ++slot)
    Take(node->children[slot], height - 1, children);
  bytes_used_ -= node->BytesUsed();
  Node::Free(node);
}

// Merges nodes that have become underfull with a neighbour, from that level up.
void SeparatorLevels::MergeUnderfull(const Path& path, int level) {
  for (; level > 0; --level) {
    Node& parent = *path.steps[level - 1].node;
    const size_t slot = path.steps[level - 1].slot;
    if (parent.NodeAt(slot)->count >= kFanout / 4) return;
    const auto fit = [&](size_t left) {
      return left + 1 < parent.count &&
             parent.NodeAt(left)->count + parent.NodeAt(left + 1)->count <= kFanout * 3 / 4;
    };
    if (fit(slot)) {
      MergeNodes(parent, slot);
    } else if (slot > 0 && fit(slot - 1)) {
      MergeNodes(parent, slot - 1);
    } else {
      return;
    }
  }
}

// The node behind entry `slot` takes in the entries of the next one.
void SeparatorLevels::MergeNodes(Node& parent, size_t slot) {
  Node& left = *parent.NodeAt(slot);
  Node& right = *parent.NodeAt(slot + 1);
  bytes_used_ -= right.BytesUsed();
  Changing(left, [&] {
    const size_t seam = left.count;
    right.MoveTail(0, left);
    left.codes[seam] = parent.codes[slot + 1];
    if (!left.ties.empty()) left.ties[seam].clear();
    if (!parent.TieAt(slot + 1).empty()) {
      left.ties.resize(left.count);
      left.ties[seam] = parent.TieAt(slot + 1);
    }
  });
  Node::Free(&right);
  parent.spans[slot] += parent.spans[slot + 1];
  Changing(parent, [&] { parent.Erase(slot + 1); });
}

}  // namespace zsetd
