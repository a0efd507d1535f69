#include "core/sorted_set/skip_list/separator_node.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "core/util/allocation.h"

namespace zsetd {

SeparatorLevels::Node::Node(uint32_t entries)
    : room(entries),
      codes(reinterpret_cast<uint64_t*>(this + 1)),
      children(reinterpret_cast<Child*>(codes + room)),
      spans(reinterpret_cast<uint32_t*>(children + room)) {}

SeparatorLevels::Node* SeparatorLevels::Node::Make(size_t room) {
  static_assert(sizeof(Node) + kFanout * kEntryBytes <= kNodeBytes);
  void* memory = ::operator new(sizeof(Node) + room * kEntryBytes);
  return new (memory) Node(static_cast<uint32_t>(room));
}

void SeparatorLevels::Node::Free(Node* node) {
  node->~Node();
  ::operator delete(node);
}

size_t SeparatorLevels::Node::BytesUsed() const {
  size_t bytes = AllocatedBytes(this) + AllocatedBytes(ties.data());
  for (const std::string& tie : ties) bytes += AllocatedBytes(tie);
  return bytes;
}

void SeparatorLevels::Node::Insert(size_t slot, Entry entry) {
  assert(slot <= count && count < room);
  assert(count < room);
  const auto open = [&](auto* array) {
    std::copy_backward(array + slot, array + count, array + count + 1);
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

void SeparatorLevels::Node::Erase(size_t first, size_t last) {
  assert(first <= last && last <= count);
  const auto close = [&](auto* array) { std::copy(array + last, array + count, array + first); };
  close(codes);
  close(spans);
  close(children);
  if (!ties.empty()) ties.erase(ties.begin() + first, ties.begin() + last);
  count -= static_cast<uint32_t>(last - first);
}

void SeparatorLevels::Node::MoveTail(size_t first, Node& other) {
  assert(first <= count && other.count + (count - first) <= other.room);
  for (size_t slot = first; slot < count; ++slot) {
    std::string tie = ties.empty() ? std::string() : std::move(ties[slot]);
    other.Insert(other.count, {codes[slot], std::move(tie), spans[slot], children[slot]});
  }
  count = static_cast<uint32_t>(first);
  if (!ties.empty()) ties.resize(first);
}

}  // namespace zsetd
