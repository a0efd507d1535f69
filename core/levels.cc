#include "core/levels.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "core/allocation.h"

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

  size_t BytesUsed() const {
    size_t bytes = AllocatedBytes(this) + AllocatedBytes(ties.data());
    for (const std::string& tie : ties) bytes += AllocatedBytes(tie);
    return bytes;
  }

  Entry TakeEntry(size_t slot) {
    return {codes[slot], ties.empty() ? std::string() : std::move(ties[slot]), spans[slot],
            children[slot]};
  }

  void Insert(size_t slot, Entry entry) {
    assert(count < kFanout);
    const auto open = [&](auto& array) {
      std::copy_backward(array.begin() + slot, array.begin() + count, array.begin() + count + 1);
    };
    open(codes);
    open(spans);
    open(children);
    codes[slot] = entry.code;
    spans[slot] = entry.span;
    children[slot] = entry.child;
    if (ties.empty() && !entry.tie.empty()) ties.resize(count);
    if (!ties.empty() || !entry.tie.empty()) ties.insert(ties.begin() + slot, std::move(entry.tie));
    ++count;
  }

  void Erase(size_t slot) { Erase(slot, slot + 1); }
  void Erase(size_t first, size_t last) {
    const auto close = [&](auto& array) {
      std::copy(array.begin() + last, array.begin() + count, array.begin() + first);
    };
    close(codes);
    close(spans);
    close(children);
    if (!ties.empty()) ties.erase(ties.begin() + first, ties.begin() + last);
    count -= last - first;
  }

  // Moves the entries from `first` on behind those of `other`.
  void MoveTail(size_t first, Node& other) {
    for (size_t slot = first; slot < count; ++slot) other.Insert(other.count, TakeEntry(slot));
    count = first;
    if (!ties.empty()) ties.resize(first);
  }
};

Levels::Levels(uint32_t child, size_t span) : top_(new Node), size_(span) {
  Entry entry;
  entry.span = span;
  entry.child.block = child;
  top_->Insert(0, std::move(entry));
  bytes_used_ = top_->BytesUsed();
}

Levels::~Levels() { FreeAll(top_, height_); }

void Levels::FreeAll(Node* node, int height) {
  for (size_t slot = 0; height > 1 && slot < node->count; ++slot) {
    FreeAll(node->NodeAt(slot), height - 1);
  }
  delete node;
}

template <class Change>
void Levels::Changing(Node& node, Change change) {
  const size_t before = node.BytesUsed();
  change();
  bytes_used_ += node.BytesUsed() - before;
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
    path.before += std::accumulate(node->spans.begin(), node->spans.begin() + slot, size_t{0});
    if (level + 1 == height_) break;
    node = node->NodeAt(slot);
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

void Levels::SetChild(const Path& path, uint32_t child) {
  const Path::Step& last = path.steps[height_ - 1];
  last.node->children[last.slot].block = child;
}

void Levels::Split(uint64_t code, std::string_view member, uint32_t child, size_t span) {
  const Path path = Find(code, member);
  const Path::Step& last = path.steps[height_ - 1];
  last.node->spans[last.slot] -= span;
  Entry entry{code, std::string(member), static_cast<uint32_t>(span), {}};
  entry.child.block = child;
  Insert(path, std::move(entry));
}

// Puts the entry behind the path's last step. A full node gives its upper half to a new one, whose
// entry goes one level up; but behind the last entry of all, the new node starts with nothing else,
// so that elements that come in order leave full nodes.
void Levels::Insert(const Path& path, Entry entry) {
  bool at_end = true;
  for (int level = 0; level < height_; ++level) {
    at_end = at_end && path.steps[level].slot + 1 == path.steps[level].node->count;
  }
  for (int level = height_ - 1; level >= 0; --level) {
    Node& node = *path.steps[level].node;
    const size_t slot = path.steps[level].slot + 1;
    if (node.count < kFanout) {
      Changing(node, [&] { node.Insert(slot, std::move(entry)); });
      return;
    }
    Node& right = *new Node;
    const size_t kept = at_end ? kFanout : kFanout / 2;
    Changing(node, [&] {
      node.MoveTail(kept, right);
      if (slot <= kept && !at_end) node.Insert(slot, std::move(entry));
    });
    if (slot > kept || at_end) right.Insert(slot - kept, std::move(entry));
    bytes_used_ += right.BytesUsed();
    entry = {right.codes[0], std::string(right.TieAt(0)), static_cast<uint32_t>(right.Span()), {}};
    entry.child.node = &right;
    if (level > 0) path.steps[level - 1].node->spans[path.steps[level - 1].slot] -= entry.span;
  }
  MakeTop(std::move(entry));
}

// A new top level over the old one and the entry.
void Levels::MakeTop(Entry entry) {
  Node& top = *new Node;
  Entry first{0, {}, static_cast<uint32_t>(size_ - entry.span), {}};
  first.child.node = top_;
  top.Insert(0, std::move(first));
  top.Insert(1, std::move(entry));
  bytes_used_ += top.BytesUsed();
  top_ = &top;
  ++height_;
  assert(static_cast<size_t>(height_) <= Path().steps.size());
}

void Levels::Remove(const Path& path) {
  assert(path.steps[height_ - 1].node->spans[path.steps[height_ - 1].slot] == 0);
  for (int level = height_ - 1; level >= 0; --level) {
    Node& node = *path.steps[level].node;
    Changing(node, [&] { node.Erase(path.steps[level].slot); });
    if (node.count > 0) {
      Thin(path, level);
      break;
    }
    bytes_used_ -= node.BytesUsed();
    delete &node;
  }
  LowerTop();
}

void Levels::LowerTop() {
  while (height_ > 1 && top_->count == 1) {
    Node* below = top_->NodeAt(0);
    bytes_used_ -= top_->BytesUsed();
    delete top_;
    top_ = below;
    --height_;
  }
}

void Levels::Cut(size_t first, size_t last, std::vector<uint32_t>& children) {
  assert(first < last && last <= size_ && last - first < size_);
  CutNode(*top_, height_, first, last, children);
  size_ -= last - first;
  if (first > 0) Thin(FindRank(first - 1), height_ - 1);
  if (first < size_) Thin(FindRank(first), height_ - 1);
  LowerTop();
}

// Ranks count from the node's own first element. What lies in the range as a whole is taken; an
// entry at either end of it may lie there in part, so it keeps something, and no node gets empty.
void Levels::CutNode(Node& node, int height, size_t first, size_t last,
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

// Frees the nodes under the entry of a node of that height, and tells the blocks.
void Levels::Take(Child child, int height, std::vector<uint32_t>& children) {
  if (height == 1) return children.push_back(child.block);
  Node* node = static_cast<Node*>(child.node);
  for (size_t slot = 0; slot < node->count; ++slot)
    Take(node->children[slot], height - 1, children);
  bytes_used_ -= node->BytesUsed();
  delete node;
}

// Joins nodes that have become thin with a neighbour, from that level up.
void Levels::Thin(const Path& path, int level) {
  for (; level > 0; --level) {
    Node& parent = *path.steps[level - 1].node;
    const size_t slot = path.steps[level - 1].slot;
    if (parent.NodeAt(slot)->count >= kFanout / 4) return;
    const auto fit = [&](size_t left) {
      return left + 1 < parent.count &&
             parent.NodeAt(left)->count + parent.NodeAt(left + 1)->count <= kFanout * 3 / 4;
    };
    if (fit(slot)) {
      Join(parent, slot);
    } else if (slot > 0 && fit(slot - 1)) {
      Join(parent, slot - 1);
    } else {
      return;
    }
  }
}

// The node behind entry `slot` takes in the entries of the next one.
void Levels::Join(Node& parent, size_t slot) {
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
  delete &right;
  parent.spans[slot] += parent.spans[slot + 1];
  Changing(parent, [&] { parent.Erase(slot + 1); });
}

void Levels::Check() const {
  assert(top_->Span() == size_);
  CheckNode(*top_, height_);
}

void Levels::CheckNode(const Node& node, int height) const {
  assert(node.count > (height == height_ && height > 1 ? 1 : 0));
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
