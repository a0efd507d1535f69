#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/sorted_set/block/block.h"
#include "core/sorted_set/block/block_table.h"
#include "core/sorted_set/block/sorted_set_snapshot.h"
#include "core/sorted_set/skip_list/block_deadlines.h"
#include "core/sorted_set/skip_list/block_index.h"
#include "core/sorted_set/skip_list/prefetch_step.h"
#include "core/sorted_set/skip_list/separator_levels.h"
#include "core/util/range.h"

namespace zsetd {

// A large sorted set: a list of packed blocks with levels and a member index.
//
//   levels        [ sep span child | sep span child | ... ]        by score, or by rank
//                      |                 |
//   blocks        [ block ]  <->  [ block ]  <->  [ block ]        up to 160 elements each
//                      ^                 ^
//   index         hash(member) -> tag, block id                    by member
//
// The levels find the block for a score or a rank, the index finds it for a member, and the block
// finds the element. Both refer to blocks by their ids, so a block may move. They change only when
// an element is added, removed or moved to another block. core/sorted_set/block/block_packing.h has
// the rules by which blocks are kept full. Elements that arrive in order fill every block: an
// element after the last or before the first one starts a new block once that block is full.
//
// After a split, or after many blocks were removed together, later changes update the index step by
// step: core/sorted_set/skip_list/block_index.h.
//
// Scores appear as their codes (core/sorted_set/block/score_encoding.h). Invariant: it is not
// empty. Costs are for n elements; a change may split or merge a block, split or merge a bucket of
// the index, and move some entries, never more.
class BlockSkipList {
 public:
  // Takes over the block with its elements and LargeMembers.
  explicit BlockSkipList(Block* block);

  // Takes over the blocks, which are tagged and in order, with their LargeMembers. `members` are
  // their members, in any order, with the numbers of their blocks. Returns null if a member occurs
  // twice. O(n).
  static std::unique_ptr<BlockSkipList> Make(std::span<Block* const> blocks,
                                             std::vector<MemberIndex::Member> members);

  // A copy. O(n).
  std::unique_ptr<BlockSkipList> Clone() const;

  size_t size() const { return levels_.size(); }
  size_t BytesUsed() const;  // on the heap, allocator rounding included; O(1)

  // The place where an element belongs. SpotFor() finds the path while memory is prefetched for the
  // next step: an insertion into a large set waits for memory more than it computes. Without a
  // path, it is found when it is needed. Valid until the next change.
  struct Spot {
    uint64_t code = 0;
    uint64_t hash = 0;  // of the member
    SeparatorLevels::Path path;
  };
  Spot SpotFor(uint64_t code, std::string_view member) const;  // O(log n)

  BlockPlace Find(std::string_view member) const;  // false if it does not exist; O(1)
  BlockPlace Find(std::string_view member, uint64_t hash) const {
    return index_.Find(member, hash);
  }
  void Prefetch(uint64_t hash, PrefetchStep step) const {  // see SortedSet
    index_.Prefetch(hash, step);
  }
  size_t RankOf(BlockPlace place, std::string_view member) const;    // O(log n)
  size_t CountBefore(uint64_t code, std::string_view member) const;  // O(log n)
  BlockPlace At(size_t rank) const;                                  // it exists; O(log n)

  // Visits members with their codes, a bucket of the index at a time. Dictionary::Scan states the
  // guarantee of a scan from cursor 0 to 0. A call visits each member once. O(1) expected.
  using Visitor = BlockIndex::Visitor;
  uint64_t Scan(uint64_t cursor, const Visitor& visit) const { return index_.Scan(cursor, visit); }

  const Block* Next(const Block& block) const { return blocks_.Next(block); }
  const Block* Previous(const Block& block) const { return blocks_.Previous(block); }

  // Whether an element has a deadline. O(1).
  bool has_deadlines() const { return deadlines_ != nullptr; }

  // The earliest deadline, or kNoDeadline. O(1).
  uint64_t EarliestDeadline() const {
    return deadlines_ == nullptr ? kNoDeadline : deadlines_->Earliest();
  }

  // The block with the earliest deadline. Precondition: has_deadlines(). O(log n).
  const Block& EarliestBlock() const { return *blocks_.At(deadlines_->EarliestBlock()); }

  // Sets or, with kNoDeadline, removes the deadline of an element. O(log n), for the first one
  // O(blocks).
  void SetDeadline(BlockPlace place, uint64_t deadline);

  // Whether an element has a payload. O(blocks).
  bool HasPayloads() const;

  // Sets, replaces or removes the payload of an element, which is not the only one. Takes over its
  // LargeMember. O(log n).
  void SetPayload(BlockPlace place, std::string_view member, const PackedPayload& payload);

  // Take over the item's LargeMembers. The member does not exist; the new one has no deadline. The
  // first sets the item's tag, the second expects it and a path. O(log n).
  void Insert(BlockItem item);
  void Insert(const Spot& spot, const BlockItem& item);

  // Moves the member at the place, which is not the only element, to the spot. Its payload is kept;
  // its deadline may be lost. O(log n), often O(1).
  void Move(BlockPlace place, const Spot& to, std::string_view member);

  // Erases an element, which is not the only one. O(log n).
  void Erase(BlockPlace place, std::string_view member);

  // Erases the elements of the range, which exist and are not all. Returns the blocks that remain
  // to be freed if they are many. O(log n + erased); whole blocks are not read.
  std::shared_ptr<DetachedBlocks> Erase(RankRange ranks);

  // Starts a snapshot of the elements at this instant. A list has one snapshot at a time.
  // O(blocks), with a small constant.
  std::unique_ptr<SortedSetSnapshot> StartSnapshot();

  // If the list has shrunk to one half-empty block, returns that block; the list may then only be
  // destroyed. Else null.
  Block* ReleaseIfSmall();

  // Asserts the invariants; for tests. O(n).
  void Check() const;

 private:
  BlockSkipList(std::span<Block* const> blocks, std::vector<MemberIndex::Member> members);
  BlockSkipList(const BlockSkipList& other)
      : blocks_(other.blocks_), levels_(other.levels_), index_(other.index_, blocks_) {
    if (other.has_deadlines()) TrackDeadlines();
  }

  static std::vector<SeparatorLevels::Leaf> LeavesOf(const BlockTable& blocks);

  void Reinsert(BlockPlace place, const Spot& to, std::string_view member,
                const PackedPayload& payload);
  const Block* CountIn(const SeparatorLevels::Path& path);
  uint32_t InsertInto(const Block* block, const BlockItem& item);
  uint32_t Overflow(Block* block, size_t i, const BlockItem& item);
  uint32_t AddLast(const BlockItem& item);
  uint32_t AddFirst(const BlockItem& item);
  uint32_t AddBehind(const Block& left, Block* block, size_t elements_from_it);

  void TrackDeadlines();
  void CheckDeadlines() const;
  void NoteDeadlines(const Block& block);
  void NoteDeadlines(const Block& block, uint64_t before, uint64_t after);
  void ForgetDeadlines(uint32_t id);

  void EraseIn(const Block* block, size_t i, std::string_view member);
  const Block* TakeOut(const Block* block, size_t first, size_t last);
  void EraseSome(const SeparatorLevels::Path& path, size_t first, size_t last);
  void EraseBlockByBlock(RankRange ranks);
  void TrimToBlocks(RankRange& ranks);
  std::shared_ptr<DetachedBlocks> Cut(RankRange ranks);
  void Drop(const SeparatorLevels::Path& path, const Block* block);
  void MergeIfUnderfull(const Block* block);
  bool MergeNeighbours(const Block* left, const Block* right);

  BlockTable blocks_;
  SeparatorLevels levels_;
  BlockIndex index_{blocks_};
  std::unique_ptr<BlockDeadlines> deadlines_;  // null: no element has one
};

}  // namespace zsetd
