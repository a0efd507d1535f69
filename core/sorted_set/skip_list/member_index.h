#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/hashing/linear_hashing.h"
#include "core/sorted_set/skip_list/index_bucket.h"
#include "core/util/segmented_array.h"

namespace zsetd {

// The block of each member, found by the member's hash, in little more than three bytes per member.
//
//   hash   [ tag 8 bits |        ...        | 2 bits | bucket number, low bits ]
//
// When the buckets get too full on average, one of them, the next in turn, is split by one more bit
// of the hash: see core/hashing/linear_hashing.h. So the index grows and shrinks a bucket at a
// time, and every change is short.
//
// A bucket does not keep hashes. Its entries have a tag and two more bits, by which it can be split
// twice. Each third time the index asks the blocks for the hashes, from which it takes the next two
// bits. The blocks return hashes by block and tag, in a fixed order. If several entries of a bucket
// have the same block and tag, the first belongs to the first such member, and so on. A split has
// to read a hundred bytes in another block for each entry; these bits avoid two splits of three.
//
// Invariant: between calls there is one entry for each member of each block, with the block's id,
// or that of another under which its owner finds it. An entry may outlive its block: it is stale. A
// caller that looks its block up never finds it. It is removed when its bucket is split by hashes,
// merged or swept. So a block is removed immediately, however many members it has; before its id is
// used again, all buckets are swept.
class MemberIndex {
 public:
  // The access of the index to the blocks.
  class Blocks {
   public:
    virtual ~Blocks() = default;

    // The hash of the nth member that is found under the id, has the tag, and whose hash ends,
    // under `mask`, in `low_bits`. Nullopt if no such block or member exists.
    virtual std::optional<uint64_t> HashOf(uint32_t id, uint8_t tag, uint64_t mask,
                                           uint64_t low_bits, size_t nth) const = 0;

    virtual bool IsThere(uint32_t id) const = 0;

    // Prefetch the memory that HashOf() will read: first the blocks of all entries, then their
    // members.
    virtual void PrefetchBlock(uint32_t id) const = 0;
    virtual void PrefetchMember(uint32_t id, uint8_t tag) const = 0;
  };

  static uint8_t TagOf(uint64_t hash) { return hash >> 56; }

  // A member on its way in: its hash and its block.
  struct Member {
    uint64_t hash;
    uint32_t id;
  };

  MemberIndex();

  // Indexes these members in as many buckets as insertions would create. Calls is_twice(first,
  // second) for each two of the same hash, which may be one member given twice; once it returns
  // true, the index is incomplete and may only be destroyed. O(members).
  using IsTwice = std::function<bool(const Member& first, const Member& second)>;
  MemberIndex(std::vector<Member> members, const IsTwice& is_twice);

  MemberIndex(const MemberIndex& other);  // O(members)
  MemberIndex& operator=(const MemberIndex&) = delete;
  ~MemberIndex();

  size_t size() const { return size_; }  // stale entries included
  size_t BytesUsed() const { return bytes_used_ + buckets_.BytesUsed(); }

  // Calls visit(id) with the blocks that may hold a member of that hash, until it returns true.
  // Returns whether it did. O(1).
  template <class Visit>
  bool Find(uint64_t hash, Visit visit) const {
    const size_t at = numbers_.NumberOf(hash);
    const IndexBucket& bucket = *buckets_[at];
    bucket.Prefetch();
    const uint8_t bits = BitsOf(hash, numbers_.DepthOf(at));
    return bucket.FindTag(
        TagOf(hash), [&](size_t i) { return bucket.BitsAt(i) == bits && visit(bucket.IdAt(i)); });
  }

  // Calls visit(tag, id) for the entries of the bucket at a scan's `cursor`, stale ones too and of
  // twins the first, and returns the cursor of the next bucket, 0 at the end.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const {
    const IndexBucket& bucket = *buckets_[numbers_.NumberOf(cursor)];
    for (size_t i = 0; i < bucket.count(); ++i) {
      if (bucket.TwinsBefore(i) == 0) visit(bucket.TagAt(i), bucket.IdAt(i));
    }
    return numbers_.CursorAfter(cursor);
  }
  bool ShareBucket(uint64_t hash, uint64_t cursor) const {
    return numbers_.NumberOf(hash) == numbers_.NumberOf(cursor);
  }

  // O(1).
  void Insert(uint64_t hash, uint32_t id);

  // Splits a bucket if the buckets are too full on average. Must be called after insertions; an
  // expensive change may leave it to the next one. O(1).
  void SplitIfFull(const Blocks& blocks) {
    if (size_ + kPrefetching >= kSplitAbove * buckets_.size()) PrepareSplit(blocks);
  }

  // Precondition: the entry exists. O(1). Remove() sometimes merges two buckets, and then only asks
  // whether their blocks exist.
  void Remove(uint64_t hash, uint32_t id, const Blocks& blocks);
  void Move(uint64_t hash, uint32_t from, uint32_t to);

  // The first starts a round of sweeping over all buckets. The second sweeps at most `buckets` of
  // them, with a cache miss each, and returns false when the round has ended.
  void StartSweep() { swept_ = 0; }
  bool Sweep(size_t buckets, const Blocks& blocks);

  // Fetches the bucket of the hash into the cache.
  void Prefetch(uint64_t hash) const { buckets_[numbers_.NumberOf(hash)]->Prefetch(); }

 private:
  // Entries a bucket on average, above which one is split; and how many insertions before that the
  // split is prepared.
  static constexpr size_t kSplitAbove = 32, kPrefetching = 17;

  // The bits of its hash that an entry keeps. In a bucket of depth 3n they are the next two, one of
  // depth 3n + 1 has used one of them, one of depth 3n + 2 both.
  static int FirstBit(int depth) { return depth / 3 * 3; }
  static uint8_t BitsOf(uint64_t hash, int depth) { return hash >> FirstBit(depth) & 3; }

  bool IsTooWide() const;
  IndexBucket::Entry EntryFor(size_t bucket, uint64_t hash, uint32_t id) const {
    return {id, TagOf(hash), BitsOf(hash, numbers_.DepthOf(bucket))};
  }
  void Replace(size_t bucket, IndexBucket* changed, size_t bytes_before);
  bool SplitsByHashes(size_t bucket) const {
    const int depth = numbers_.DepthOf(bucket);
    return FirstBit(depth + 1) != FirstBit(depth);
  }
  void SortByBucket(std::vector<Member>& members) const;
  bool FillBucket(std::span<const Member> members, const IsTwice& is_twice);
  void PrepareSplit(const Blocks& blocks);
  void PrefetchForSplit(size_t insertions_left, const Blocks& blocks) const;
  void SplitOne(const Blocks& blocks);
  void SplitByBits(size_t number, IndexBucket* (&halves)[2]) const;
  void SplitByHashes(size_t number, const Blocks& blocks, IndexBucket* (&halves)[2]) const;
  void MergeOne(const Blocks& blocks);
  void SweepOne(size_t bucket, const Blocks& blocks);

  SegmentedArray<IndexBucket*> buckets_;
  LinearHashing numbers_{1};
  size_t size_ = 0;
  size_t bytes_used_ = 0;  // by the buckets
  size_t swept_ = 0;       // buckets of the present round; the first ones
};

}  // namespace zsetd
