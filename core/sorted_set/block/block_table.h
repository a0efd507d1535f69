#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/sorted_set/block/block.h"
#include "core/util/segmented_array.h"

namespace zsetd {

// Blocks that have left their set; frees them, and LargeMembers with them. Any thread may.
class LooseBlocks {
 public:
  LooseBlocks(std::vector<Block*> blocks, bool with_large)
      : blocks_(std::move(blocks)), with_large_(with_large) {}
  LooseBlocks(const LooseBlocks&) = delete;
  LooseBlocks& operator=(const LooseBlocks&) = delete;
  ~LooseBlocks();

 private:
  std::vector<Block*> blocks_;
  bool with_large_;
};

// The blocks of a large set, which it owns, in order, each with a name that stays the same.
//
//   id          0      1      2      3
//   table     [ A ]  [ B ]  [ - ]  [ C ]
//   row         A <-> C <-> B                   A.next = 3, C.next = 1
//
// A block that grows moves to another address. Everything else names it by its id, so that one
// write to the table is all a move takes. Ids of blocks that have gone are given again; those of a
// run that was cut out not before nobody can name them any more.
//
// Invariant: the row and the table hold the same blocks.
class BlockRow {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  BlockRow() = default;
  explicit BlockRow(std::span<Block* const> blocks);  // takes them over, in that order
  BlockRow(const BlockRow& other);  // the same blocks once more, by the same ids; LargeMembers too
  BlockRow& operator=(const BlockRow&) = delete;
  ~BlockRow();  // frees LargeMembers too

  Block* Find(uint32_t id) const {  // null if there is none
    return table_[id] & 1 ? nullptr : Pointer(table_[id]);
  }
  Block* At(uint32_t id) const { return Pointer(table_[id]); }  // it is there
  Block* Next(const Block& block) const { return block.next == kNone ? nullptr : At(block.next); }
  Block* Previous(const Block& block) const {
    return block.previous == kNone ? nullptr : At(block.previous);
  }

  // Takes over the block and returns the id it gets; it stands behind `left`, first if that is
  // null.
  uint32_t Add(Block* block, Block* left);

  // `block` has taken the place of one with its id and neighbours, which had allocated `old_bytes`.
  void Replace(Block* block, size_t old_bytes);

  // The last block leaves the row, and is the caller's.
  Block* ReleaseOnly();

  // Takes the block out of the row and frees it, but not its LargeMembers.
  void Remove(Block* block);

  // Takes a run of neighbours, not all, out of the row. Their ids stay taken until they are set
  // free. O(blocks).
  std::shared_ptr<LooseBlocks> Cut(std::span<const uint32_t> ids);

  void FreeIds(std::span<const uint32_t> ids);

  // Keep account of the members too large for a block; null does no harm.
  void CountLarge(const LargeMember* large);
  void FreeLarge(LargeMember* large);

  Block* First() const { return At(first_); }  // of a row with blocks
  Block* Last() const { return At(last_); }

  size_t count() const { return count_; }
  size_t BytesUsed() const { return bytes_used_ + table_.BytesUsed(); }

 private:
  // A slot without a block has the lowest bit set, and the next such slot above it.
  static Block* Pointer(uintptr_t slot) { return reinterpret_cast<Block*>(slot); }
  static constexpr uintptr_t kCutSlot = ~uintptr_t{0};
  static uintptr_t FreeSlot(uint32_t next_free) { return uintptr_t{next_free} << 1 | 1; }

  uint32_t NewId();
  void CountLarge(const Block& block);
  void DiscountLarge(const Block& block);

  SegmentedArray<uintptr_t> table_;
  uint32_t first_ = kNone;
  uint32_t last_ = kNone;
  uint32_t first_free_ = kNone;
  size_t count_ = 0;
  size_t bytes_used_ = 0;  // by blocks and LargeMembers
  size_t large_count_ = 0;
};

}  // namespace zsetd
