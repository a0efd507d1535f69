#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/sorted_set/block/block.h"

namespace zsetd {

class BlockTable;
class DetachedBlocks;

// A block that belongs to no set, with its LargeMembers.
struct FreesBlock {
  void operator()(Block* block) const {
    block->FreeLargeMembers();
    Block::Free(block);
  }
};
using OwnedBlock = std::unique_ptr<Block, FreesBlock>;

// The elements of a large set as they were at one instant, handed out a block at a time while the
// set changes.
//
//   order of ids      0   3   1   4   2                   as of the instant
//   by id           [ live | copy | live | - | kept ]      - : handed out
//
// Starting a snapshot takes a word and a half for each block. A block is copied before its first
// change, so a change waits for the copies of two blocks at most. A run that is cut out is kept
// alive instead. Blocks that are created later are not part of the snapshot.
//
// A set has one snapshot at a time. The snapshot may outlive the set: before the blocks are freed,
// those that were not handed out are copied in O(n). Therefore the owner of a large set keeps it
// until its snapshot has ended.
class SetSnapshot {
 public:
  // Takes the ids of all blocks in order and their number of elements. For BlockSkipList only.
  SetSnapshot(BlockTable& blocks, std::vector<uint32_t> ids, size_t elements);
  SetSnapshot(const SetSnapshot&) = delete;
  ~SetSnapshot();

  size_t size() const { return size_; }  // elements at the instant
  bool done() const { return left_ == 0; }

  // Returns the next block, from the last to the first: a copy, which another thread may free.
  // Precondition: !done(). O(bytes of the block).
  OwnedBlock Take();

  // The bytes of the copies that are not yet handed out.
  size_t copied_bytes() const { return copied_bytes_; }

  // --- For BlockTable. ---

  // Must be called before the block is changed or removed. O(bytes of the block) the first time.
  void BeforeChange(const Block& block) {
    if (slots_.size() > block.id && slots_[block.id] == kLive) Copy(block);
  }

  // Records that these blocks, which are unchanged, now belong to `run`.
  void Keep(const std::vector<Block*>& blocks, std::shared_ptr<DetachedBlocks> run);

  // Must be called before the table is destroyed. O(blocks).
  void Detach();

 private:
  // A slot by id: one of these, or the address of a copy, marked if it belongs to a kept run.
  static constexpr uintptr_t kNone = 0;  // not part of it, or handed out
  static constexpr uintptr_t kLive = 1;  // the block in the table is unchanged
  static constexpr uintptr_t kKeptMark = 2;

  uintptr_t& CurrentSlot() { return slots_[ids_[left_ - 1]]; }
  static bool IsCopy(uintptr_t slot) {
    return slot != kNone && slot != kLive && (slot & kKeptMark) == 0;
  }
  OwnedBlock TakeCopy(uintptr_t slot);
  void Copy(const Block& block);

  BlockTable* blocks_;  // null once it is destroyed
  const std::vector<uint32_t> ids_;
  const size_t size_;
  size_t left_;  // blocks that were not handed out
  std::vector<uintptr_t> slots_;
  std::vector<std::shared_ptr<DetachedBlocks>> runs_;
  size_t copied_bytes_ = 0;

#ifndef NDEBUG
  // Detects a change that bypassed BlockTable::Mutable.
  void CheckUnchanged(const Block& block) const;
  std::vector<uint64_t> checksums_;  // by id, of the live ones
#endif
};

}  // namespace zsetd
