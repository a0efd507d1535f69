#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/sorted_set/block/block.h"
#include "core/sorted_set/block/sorted_set_snapshot.h"
#include "core/util/segmented_array.h"

namespace zsetd {

// Owns blocks that were removed from their set; frees them, with their LargeMembers, on any thread.
class DetachedBlocks {
 public:
  DetachedBlocks(std::vector<Block*> blocks, bool with_large)
      : blocks_(std::move(blocks)), with_large_(with_large) {}
  DetachedBlocks(const DetachedBlocks&) = delete;
  DetachedBlocks& operator=(const DetachedBlocks&) = delete;
  ~DetachedBlocks();

  const std::vector<Block*>& blocks() const { return blocks_; }

 private:
  std::vector<Block*> blocks_;
  bool with_large_;
};

// Owns the blocks of a large set. They form a linked list in order, and each has an id that never
// changes.
//
//   id          0      1      2      3
//   table     [ A ]  [ B ]  [ - ]  [ C ]
//   list        A <-> C <-> B                   A.next = 3, C.next = 1
//
// A block that grows moves to another address. All references use its id, so a move takes one write
// to the table. Ids of removed blocks are reused. Ids of a run that was cut out are reused after
// FreeIds() only.
//
// Invariant: the list and the table hold the same blocks.
class BlockTable {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  BlockTable() = default;
  explicit BlockTable(std::span<Block* const> blocks);  // takes them over, in that order
  BlockTable(const BlockTable& other);  // copies the blocks with their ids and LargeMembers
  BlockTable& operator=(const BlockTable&) = delete;
  ~BlockTable();  // frees LargeMembers too

  const Block* Find(uint32_t id) const {  // null if the id is not in use
    return table_[id] & 1 ? nullptr : Pointer(table_[id]);
  }
  const Block* At(uint32_t id) const { return PointerAt(id); }  // it exists
  const Block* Next(const Block& block) const {
    return block.next == kNone ? nullptr : At(block.next);
  }
  const Block* Previous(const Block& block) const {
    return block.previous == kNone ? nullptr : At(block.previous);
  }

  // Returns the block for a change, a move or its destruction, and informs the snapshot first. This
  // is the only access to a block that can be changed.
  Block* Mutable(const Block* block) {
    assert(At(block->id) == block);
    if (snapshot_ != nullptr) [[unlikely]]
      snapshot_->BeforeChange(*block);
    return const_cast<Block*>(block);
  }

  // Takes over the block, inserts it after `left`, or first if that is null, and returns its id.
  uint32_t Add(Block* block, const Block* left);

  // Stores `block`, which has the id and the neighbours of the block that it replaces. `old_bytes`
  // is the allocation of the replaced block.
  void Replace(Block* block, size_t old_bytes);

  // Removes the only block from the list and returns it; the caller owns it.
  Block* ReleaseOnly();

  // Removes the block from the list and frees it, but not its LargeMembers.
  void Remove(const Block* block);

  // Removes a run of neighbours, not all blocks, from the list. Their ids are in use until
  // FreeIds(). O(blocks).
  std::shared_ptr<DetachedBlocks> Cut(std::span<const uint32_t> ids);

  void FreeIds(std::span<const uint32_t> ids);

  // Count the members and payloads too large for a block; null is allowed.
  void CountLarge(const LargeMember* large);
  void FreeLarge(LargeMember* large);

  const Block* First() const { return At(first_); }  // of a list with blocks
  const Block* Last() const { return At(last_); }

  // The snapshot that must copy blocks before they change; null without one. Its SnapshotLink sets
  // it. The snapshot is notified when the table is destroyed.
  SortedSetSnapshot*& snapshot() { return snapshot_; }

  size_t IdLimit() const { return table_.size(); }  // above all ids in use
  size_t count() const { return count_; }
  size_t BytesUsed() const { return bytes_used_ + table_.BytesUsed(); }

 private:
  // A slot without a block has the lowest bit set, and the next such slot above it.
  static Block* Pointer(uintptr_t slot) { return reinterpret_cast<Block*>(slot); }
  Block* PointerAt(uint32_t id) const {
    assert(Find(id) != nullptr);
    return Pointer(table_[id]);
  }
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
  SortedSetSnapshot* snapshot_ = nullptr;
};

}  // namespace zsetd
