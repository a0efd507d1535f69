// Changes that make blocks come: an entry more, nodes that overflow, a level on top.

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "core/sorted_set/skip_list/separator_levels.h"
#include "core/sorted_set/skip_list/separator_node.h"

namespace zsetd {

void Levels::Split(uint64_t code, std::string_view member, uint32_t child, size_t span) {
  const Path path = Find(code, member);
  const Path::Step& last = path.steps[height_ - 1];
  last.node->spans[last.slot] -= span;
  Entry entry{code, std::string(member), static_cast<uint32_t>(span), {}};
  entry.child.block = child;
  Insert(path, std::move(entry), IsLast(path) ? kFanout : kFanout / 2);
}

void Levels::Prepend(uint64_t code, std::string_view member, uint32_t child, size_t span) {
  const Path path = First();
  const Path::Step& first = path.steps[height_ - 1];
  first.node->spans[0] -= span;
  Entry entry{code, std::string(member), static_cast<uint32_t>(span), first.node->children[0]};
  first.node->children[0].block = child;
  Insert(path, std::move(entry), 1);
}

// Puts the entry behind the path's last step. A full node keeps the first `kept` of its entries;
// the others go to a new one, whose entry goes one level up. That is half of them; but behind the
// last entry of all, the new node starts with nothing else, and before the first of all the old one
// keeps nothing else, so that elements that come in order leave full nodes.
void Levels::Insert(const Path& path, Entry entry, size_t kept) {
  for (int level = height_ - 1; level >= 0; --level) {
    Node& node = WithRoom(*path.steps[level].node);
    const size_t slot = path.steps[level].slot + 1;
    if (node.count < kFanout) {
      Changing(node, [&] { node.Insert(slot, std::move(entry)); });
      return;
    }
    entry = Divide(node, kept, slot, std::move(entry));
    if (level > 0) path.steps[level - 1].node->spans[path.steps[level - 1].slot] -= entry.span;
  }
  MakeTop(std::move(entry));
}

// The node, or, if it is full but could be larger, for it is the only one, that which takes its
// place.
Levels::Node& Levels::WithRoom(Node& node) {
  if (node.count < node.room || node.room == kFanout) return node;
  bytes_used_ -= node.BytesUsed();
  Node& larger = *Node::Make(std::min<size_t>(2 * node.room, kFanout));
  node.MoveTail(0, larger);
  bytes_used_ += larger.BytesUsed();
  Node::Free(&node);
  return *(top_ = &larger);
}

// Whether no block stands behind that of the path.
bool Levels::IsLast(const Path& path) const {
  return std::all_of(path.steps.begin(), path.steps.begin() + height_,
                     [](const Path::Step& step) { return step.slot + 1 == step.node->count; });
}

// Puts the entry at `slot` of the node, which is full: it keeps the first `kept` of its own, a new
// node gets the others. Returns the entry of the new one.
Levels::Entry Levels::Divide(Node& node, size_t kept, size_t slot, Entry entry) {
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
void Levels::MakeTop(Entry entry) {
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

}  // namespace zsetd
