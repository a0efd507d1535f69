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

// The member index of a list of blocks, together with the updates that it still lacks.
//
// A split moves elements to another block, and erasing a range removes whole blocks. Updating the
// index for each element at once would make one change wait for hundreds of cache misses. So both
// are deferred, and each change that follows does a small part:
//
//   split    elements keep the id of their old block in the index    core/.../pending_moves.h
//   cut      entries of blocks that are gone stay, and are swept out bucket by bucket
//
// Invariant: every element of every block is found, and nothing else is, whatever is deferred. The
// ids of blocks that were cut out are not given to other blocks while an entry may have them.
class BlockIndex final : private MemberIndex::Blocks {
 public:
  // The blocks outlive it. None of their elements is in the index yet.
  explicit BlockIndex(BlockTable& blocks) : blocks_(blocks) {}

  // With these members, which are those of all elements of the blocks. If one occurs twice, size()
  // is less than their number and the index is only to be destroyed.
  BlockIndex(BlockTable& blocks, std::vector<MemberIndex::Member> members);

  // The same for a copy of the other's blocks.
  BlockIndex(const BlockIndex& other, BlockTable& blocks)
      : blocks_(blocks),
        index_(other.index_),
        pending_moves_(other.pending_moves_),
        cut_ids_(other.cut_ids_) {}

  BlockIndex(const BlockIndex&) = delete;
  BlockIndex& operator=(const BlockIndex&) = delete;

  size_t size() const { return index_.size(); }  // entries of blocks that were cut out included
  size_t BytesUsed() const;

  BlockPlace Find(std::string_view member,
                  uint64_t hash) const;  // false if it does not exist; O(1)

  // Brings the bucket of the hash into the cache; what finding a member reads, as SortedSet says.
  void Prefetch(uint64_t hash) const { index_.Prefetch(hash); }
  void Prefetch(uint64_t hash, PrefetchStep step) const;

  // Visits the elements of a bucket, each once. Returns the next cursor, 0 at the end.
  using Visitor = std::function<void(std::string_view member, uint64_t code)>;
  uint64_t Scan(uint64_t cursor, const Visitor& visit) const;

  // The id by which the index has, or is to have, element `i` of the block.
  uint32_t IdOf(uint32_t block, size_t i) const { return pending_moves_.IndexedId(block, i); }

  // An element was added to block `id`, at `i`, or removed; the caller changes the entry.
  // Returns the id for its entry.
  uint32_t RecordInsertion(uint32_t id, size_t i) { return pending_moves_.RecordInsertion(id, i); }
  void RecordErasure(uint32_t id, size_t i) { pending_moves_.RecordErasure(id, i); }

  // Changes the entry of one member. The last may split a bucket, and be left to a later change.
  void Insert(uint64_t hash, uint32_t id) { index_.Insert(hash, id); }
  void Remove(uint64_t hash, uint32_t id) { index_.Remove(hash, id, *this); }
  void Move(uint64_t hash, uint32_t from, uint32_t to) { index_.Move(hash, from, to); }
  void SplitIfFull() { index_.SplitIfFull(*this); }

  // Before a block is split: from here on no element of another block has its id, nor the reverse.
  void PrepareSplit(uint32_t block);

  // All elements of the block `to`, which is new, came from the block `from`.
  void StartMove(uint32_t from, uint32_t to) { pending_moves_.Start(from, to); }

  // Does at once what is deferred for this block.
  void Settle(uint32_t block);

  // All elements of the block go to another, at once. Both are settled.
  void MoveAll(const Block& block, uint32_t to);

  // The block goes; what the index has of its elements is the caller's business.
  void Forget(uint32_t block);

  // Before blocks are cut out: does all deferred moves at once.
  void PrepareCut();

  // These blocks have been cut out: their entries are swept from here on. O(blocks).
  void StartSweep(std::vector<uint32_t> ids);

  // Does a part of what is deferred. O(1).
  void Tidy();

  // Asserts that the element is indexed, and the invariants; for tests.
  void CheckHas(const Block& block, size_t i, std::string_view member) const;
  void Check() const;

 private:
  // Ids of blocks that were cut out, while entries of the index may still have them. A round of
  // sweeping frees those that were there when it began.
  struct CutIds {
    std::vector<uint32_t> in_round;
    std::vector<uint32_t> later;
  };

  static constexpr size_t kSweptPerChange = 4;  // buckets

  bool IsTwice(const MemberIndex::Member& first, const MemberIndex::Member& second) const;

  template <class Visit>
  bool FindTag(uint32_t id, uint8_t tag, Visit visit) const;

  // What the index asks when it splits a bucket.
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
