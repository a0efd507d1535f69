#include "core/levels_node.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/allocation.h"

namespace zsetd {

size_t Levels::Node::BytesUsed() const {
  size_t bytes = AllocatedBytes(this) + AllocatedBytes(ties.data());
  for (const std::string& tie : ties) bytes += AllocatedBytes(tie);
  return bytes;
}

void Levels::Node::Insert(size_t slot, Entry entry) {
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

void Levels::Node::Erase(size_t first, size_t last) {
  const auto close = [&](auto& array) {
    std::copy(array.begin() + last, array.begin() + count, array.begin() + first);
  };
  close(codes);
  close(spans);
  close(children);
  if (!ties.empty()) ties.erase(ties.begin() + first, ties.begin() + last);
  count -= last - first;
}

void Levels::Node::MoveTail(size_t first, Node& other) {
  for (size_t slot = first; slot < count; ++slot) {
    std::string tie = ties.empty() ? std::string() : std::move(ties[slot]);
    other.Insert(other.count, {codes[slot], std::move(tie), spans[slot], children[slot]});
  }
  count = first;
  if (!ties.empty()) ties.resize(first);
}

}  // namespace zsetd
