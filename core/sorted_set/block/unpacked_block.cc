#include "core/sorted_set/block/unpacked_block.h"

#include <algorithm>
#include <cassert>

namespace zsetd {

void UnpackedBlock::Append(const Block& block) {
  assert(count_ + block.count() <= kCapacity);
  MemberBuffer buffer;
  for (size_t i = 0; i < block.count(); ++i) {
    BlockItem& item = items_[count_++];
    item = block.ItemAt(i, buffer);
    if (item.member.data() == buffer.data()) {
      char* text = text_end_;
      text_end_ = std::copy(item.member.begin(), item.member.end(), text);
      item.member = {text, item.member.size()};
    }
  }
}

void UnpackedBlock::Insert(size_t i, const BlockItem& item) {
  assert(count_ < kCapacity);
  std::copy_backward(items_.begin() + i, items_.begin() + count_, items_.begin() + count_ + 1);
  items_[i] = item;
  ++count_;
}

void UnpackedBlock::Erase(size_t first, size_t last) {
  std::copy(items_.begin() + last, items_.begin() + count_, items_.begin() + first);
  count_ -= last - first;
}

}  // namespace zsetd
