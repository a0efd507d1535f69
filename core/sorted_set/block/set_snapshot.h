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
// set goes on changing.
//
//   order of ids      0   3   1   4   2                   as of the instant
//   by id           [ live | copy | live | - | kept ]      - : handed out
//
// It costs nothing to begin but a word and a half for each block. A block is copied before it is
// changed for the first time, so a change waits for the copy of a block or two at most; a run that
// is cut out is kept alive instead. Blocks that are created later are no part of it.
//
// A set has one snapshot at a time, and the snapshot may outlive it: before the blocks are freed
// those that were not handed out are copied, which takes as long as the set is large; whoever
// destroys large sets keeps them until their snapshots have ended.
class SetSnapshot {
 public:
  // Of these blocks, by their ids in order, with this number of elements. For BlockSkipList.
  SetSnapshot(BlockTable& blocks, std::vector<uint32_t> ids, size_t elements);
  SetSnapshot(const SetSnapshot&) = delete;
  ~SetSnapshot();

  size_t size() const { return size_; }  // elements at the instant
  bool done() const { return left_ == 0; }

  // The next block, from the last to the first: a copy, which another thread may free. It is not
  // done. O(bytes of the block).
  OwnedBlock Take();

  // The bytes of copies that wait for being handed out.
  size_t copied_bytes() const { return copied_bytes_; }

  // --- For BlockTable. ---

  // The block is about to be changed or removed. O(1).
  void BeforeChange(const Block& block) {
    if (slots_.size() > block.id && slots_[block.id] == kLive) Copy(block);
  }

  // These blocks, which are unchanged, belong to `run` from now on.
  void Keep(const std::vector<Block*>& blocks, std::shared_ptr<DetachedBlocks> run);

  // The table is about to be destroyed. O(blocks).
  void Detach();

 private:
  // A slot by id: one of these, or the address of a copy, marked if it belongs to a kept run.
  static constexpr uintptr_t kNone = 0;  // no part of it, or handed out
  static constexpr uintptr_t kLive = 1;  // the block in the table is unchanged
  static constexpr uintptr_t kKeptMark = 2;

  uintptr_t& CurrentSlot() { return slots_[ids_[left_ - 1]]; }
  static bool IsCopy(uintptr_t slot) {
    return slot != kNone && slot != kLive && (slot & kKeptMark) == 0;
  }
  OwnedBlock TakeCopy(uintptr_t slot);
  void Copy(const Block& block);

  BlockTable* blocks_;  // null once it is gone
  const std::vector<uint32_t> ids_;
  const size_t size_;
  size_t left_;  // blocks that were not handed out
  std::vector<uintptr_t> slots_;
  std::vector<std::shared_ptr<DetachedBlocks>> runs_;
  size_t copied_bytes_ = 0;

#ifndef NDEBUG
  // Shows a change that was made behind the back of BlockTable::Mutable.
  void CheckUnchanged(const Block& block) const;
  std::vector<uint64_t> checksums_;  // by id, of the live ones
#endif
};

}  // namespace zsetd
