#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/sorted_set/block/block.h"
#include "core/util/piece_snapshot.h"
#include "core/util/snapshot_link.h"

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

// The blocks of a large set as the pieces of its snapshot, by their ids.
struct BlockPieces {
  using Piece = const Block;
  using Owned = OwnedBlock;

  static OwnedBlock Clone(const Block& block);
  static size_t BytesUsed(const Block& block) { return block.allocated_bytes(); }
  static void Release(const Block&) {}
#ifndef NDEBUG
  static uint64_t Checksum(const Block& block) { return block.Checksum(); }
#endif
};

// The elements of a large set as they were at one instant, handed out a block at a time while the
// set changes: see PieceSnapshot. A change waits for the copies of two blocks at most. A run that
// is cut out is kept alive instead of copied.
//
// A set has one snapshot at a time. The snapshot may outlive the set: before the blocks are freed,
// those that were not handed out are copied in O(n). Therefore the owner of a large set keeps it
// until its snapshot has ended.
class SortedSetSnapshot {
 public:
  // Takes the ids of all blocks in order and their number of elements. For BlockSkipList only.
  SortedSetSnapshot(BlockTable& blocks, std::span<const uint32_t> ids, size_t elements);
  SortedSetSnapshot(const SortedSetSnapshot&) = delete;

  size_t size() const { return size_; }  // elements at the instant
  bool done() const { return pieces_.done(); }

  // Returns the next block, from the last to the first: a copy, which another thread may free.
  // Precondition: !done(). O(bytes of the block).
  OwnedBlock Take() { return pieces_.Take(); }

  // The bytes of the copies that are not yet handed out.
  size_t copied_bytes() const { return pieces_.copied_bytes(); }

  // --- For BlockTable. ---

  // Must be called before the block is changed or removed. O(bytes of the block) the first time.
  void BeforeChange(const Block& block) { pieces_.BeforeChange(block.id); }

  // Records that the blocks of `run`, which are unchanged, were cut out.
  void Keep(std::shared_ptr<DetachedBlocks> run);

  // Must be called before the table is destroyed. O(blocks).
  void Detach();

 private:
  const size_t size_;
  std::vector<std::shared_ptr<DetachedBlocks>> runs_;
  PieceSnapshot<BlockPieces> pieces_;     // some belong to `runs_`
  SnapshotLink<SortedSetSnapshot> link_;  // cut once the table is destroyed
};

}  // namespace zsetd
