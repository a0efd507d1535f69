#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "core/sorted_set/block/block.h"

namespace zsetd {

// The elements of one or two blocks, unpacked, to be packed again. Members that a block stores
// verbatim are views into the block, so the blocks must outlive this.
class UnpackedBlock {
 public:
  static constexpr size_t kCapacity = Block::kMaxCount + 1;

  UnpackedBlock() {}  // NOLINT: without `= default`, which would initialize the items
  explicit UnpackedBlock(const Block& block) { Append(block); }

  // Appends the elements of the block.
  void Append(const Block& block);

  void Insert(size_t i, const BlockItem& item);
  void Erase(size_t first, size_t last);

  std::span<BlockItem> items() { return {items_.data(), count_}; }

 private:
  static_assert(std::is_trivially_copyable_v<BlockItem>);
  union {
    std::array<BlockItem, kCapacity> items_;  // not initialized after `count_`
  };
  size_t count_ = 0;
  std::array<char, kCapacity * kMaxInlineMember> text_;  // of assembled members; not initialized
  char* text_end_ = text_.data();
};

}  // namespace zsetd
