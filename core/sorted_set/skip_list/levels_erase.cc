// Changes that make blocks go: one or a row of them, joining nodes that got thin, a level less.

#include <algorithm>
#include <cassert>

#include "core/sorted_set/skip_list/separator_levels.h"
#include "core/sorted_set/skip_list/separator_node.h"

namespace zsetd {

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
    Node::Free(&node);
  }
  LowerTop();
}

void Levels::LowerTop() {
  while (height_ > 1 && top_->count == 1) {
    Node* below = top_->NodeAt(0);
    bytes_used_ -= top_->BytesUsed();
    Node::Free(top_);
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
  Node::Free(node);
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
  Node::Free(&right);
  parent.spans[slot] += parent.spans[slot + 1];
  Changing(parent, [&] { parent.Erase(slot + 1); });
}

}  // namespace zsetd
