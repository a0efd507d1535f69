#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/sorted_set/block/block.h"
#include "core/sorted_set/block/block_table.h"
#include "core/sorted_set/skip_list/member_index.h"
#include "core/sorted_set/skip_list/pending_moves.h"
#include "core/sorted_set/skip_list/prefetch_step.h"

namespace zsetd {

// The member index of a list of blocks, together with its deferred updates.
//
// A split moves elements to another block, and erasing a range removes whole blocks. Updating the
// index for each element immediately would make one change wait for hundreds of cache misses. So
// both are deferred, and each later change does a small part:
//
//   split    elements keep the id of their old block in the index    core/.../pending_moves.h
//   cut      entries of removed blocks stay, and are swept out bucket by bucket
//
// Invariant: exactly the elements of the blocks are found, even while updates are deferred. The ids
// of blocks that were cut out are not reused while an entry may have them.
class BlockIndex final : private MemberIndex::Blocks {
 public:
  // The blocks outlive it. The index starts empty.
  explicit BlockIndex(BlockTable& blocks) : blocks_(blocks) {}

  // Indexes these members, which are those of all elements of the blocks. If a member occurs twice,
  // size() is less than their number, and the index may only be destroyed.
  BlockIndex(BlockTable& blocks, std::vector<MemberIndex::Member> members);

  // Copies the index for `blocks`, a copy of the other's blocks.
  BlockIndex(const BlockIndex& other, BlockTable& blocks)
      : blocks_(blocks),
        index_(other.index_),
        pending_moves_(other.pending_moves_),
        cut_ids_(other.cut_ids_) {}

  BlockIndex(const BlockIndex&) = delete;
  BlockIndex& operator=(const BlockIndex&) = delete;

  size_t size() const { return index_.size(); }  // includes entries of blocks that were cut out
  size_t BytesUsed() const;

  BlockPlace Find(std::string_view member,
                  uint64_t hash) const;  // false if it does not exist; O(1)

  // The first function prefetches the bucket of the hash. The second prefetches the memory that one
  // step of a search reads; see SortedSet::Prefetch().
  void Prefetch(uint64_t hash) const { index_.Prefetch(hash); }
  void Prefetch(uint64_t hash, PrefetchStep step) const;

  // Visits the elements of a bucket, each once. Returns the next cursor, 0 at the end.
  using Visitor = std::function<void(std::string_view member, uint64_t code)>;
  uint64_t Scan(uint64_t cursor, const Visitor& visit) const;

  // The id under which the index has, or will have, element `i` of the block.
  uint32_t IdOf(uint32_t block, size_t i) const { return pending_moves_.IndexedId(block, i); }

  // Must be called after an element was added to block `id` at `i`, or removed. Returns the id for
  // its entry, which the caller changes.
  uint32_t RecordInsertion(uint32_t id, size_t i) { return pending_moves_.RecordInsertion(id, i); }
  void RecordErasure(uint32_t id, size_t i) { pending_moves_.RecordErasure(id, i); }

  // Change the entry of one member. SplitIfFull() may split a bucket; a caller may postpone it to a
  // later change.
  void Insert(uint64_t hash, uint32_t id) { index_.Insert(hash, id); }
  void Remove(uint64_t hash, uint32_t id) { index_.Remove(hash, id, *this); }
  void Move(uint64_t hash, uint32_t from, uint32_t to) { index_.Move(hash, from, to); }
  void SplitIfFull() { index_.SplitIfFull(*this); }

  // Must be called before a block is split. After it, no element of another block is indexed under
  // its id, and none of its elements under another id.
  void PrepareSplit(uint32_t block);

  // Starts a move: all elements of the new block `to` came from the block `from`.
  void StartMove(uint32_t from, uint32_t to) { pending_moves_.Start(from, to); }

  // Completes the deferred updates of this block immediately.
  void Settle(uint32_t block);

  // Moves all elements of the block to another one immediately. Precondition: both are settled.
  void MoveAll(const Block& block, uint32_t to);

  // Must be called before a block is removed. The caller removes the entries of its elements.
  void Forget(uint32_t block);

  // Completes all deferred moves. Must be called before blocks are cut out.
  void PrepareCut();

  // Starts to sweep the entries of these blocks, which were cut out. O(blocks).
  void StartSweep(std::vector<uint32_t> ids);

  // Does a part of the deferred updates. O(1).
  void Tidy();

  // Asserts that the element is indexed, and the invariants; for tests.
  void CheckHas(const Block& block, size_t i, std::string_view member) const;
  void Check() const;

 private:
  // Ids of blocks that were cut out, while entries of the index may still have them. A round of
  // sweeping frees the ids that were present when it began.
  struct CutIds {
    std::vector<uint32_t> in_round;
    std::vector<uint32_t> later;
  };

  static constexpr size_t kSweptPerChange = 4;  // buckets

  bool IsTwice(const MemberIndex::Member& first, const MemberIndex::Member& second) const;

  template <class Visit>
  bool FindTag(uint32_t id, uint8_t tag, Visit visit) const;

  // The index calls these functions when it splits a bucket.
  std::optional<uint64_t> HashOf(uint32_t id, uint8_t tag, uint64_t mask, uint64_t low_bits,
                                 size_t nth) const override;
  bool IsThere(uint32_t id) const override { return blocks_.Find(id) != nullptr; }
  void PrefetchBlock(uint32_t id) const override;
  void PrefetchMember(uint32_t id, uint8_t tag) const override;

  void MoveSome();
  void MoveRest(const PendingMoves::Move& move);
  void MoveEntries(const Block& block, size_t first, size_t last, uint32_t from, uint32_t to);
  template <class Is>
  void SettleWhere(Is is);
  void Sweep(size_t buckets);

  BlockTable& blocks_;
  MemberIndex index_;
  PendingMoves pending_moves_;
  CutIds cut_ids_;
};

}  // namespace zsetd
