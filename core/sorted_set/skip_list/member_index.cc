#include "core/sorted_set/skip_list/member_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <numeric>

namespace zsetd {
namespace {

// Entries a bucket on average, below which two are merged.
constexpr size_t kMergeBelow = 16;

// The index of an entry equal to this one, which exists.
size_t PlaceOf(const IndexBucket& bucket, const IndexBucket::Entry& entry) {
  size_t place = 0;
  [[maybe_unused]] const bool found = bucket.FindTag(entry.tag, [&](size_t i) {
    return place = i, bucket.IdAt(i) == entry.id && bucket.BitsAt(i) == entry.bits;
  });
  assert(found);
  return place;
}

}  // namespace

MemberIndex::MemberIndex() {
  buckets_.Append(IndexBucket::Make(kSplitAbove));
  bytes_used_ = buckets_[0]->allocated_bytes();
}

MemberIndex::MemberIndex(std::vector<Member> members, const IsTwice& is_twice)
    : numbers_(std::max<size_t>(1, (members.size() + kSplitAbove - 1) / kSplitAbove)) {
  SortByBucket(members);
  std::span<const Member> left = members;
  for (size_t at = 0; at < numbers_.count(); ++at) {
    const auto is_elsewhere = [&](const Member& member) {
      return numbers_.NumberOf(member.hash) != at;
    };
    const size_t count = std::find_if(left.begin(), left.end(), is_elsewhere) - left.begin();
    if (!FillBucket(left.first(count), is_twice)) return;
    left = left.subspan(count);
  }
}

// Each pass sorts by a few bits of the bucket number, the lowest first, and writes to at most 512
// places in order, where putting each member into its bucket would wait for memory.
void MemberIndex::SortByBucket(std::vector<Member>& members) const {
  constexpr int kMostBits = 9;  // at a time
  const int all_bits = std::bit_width(numbers_.count() - 1);
  if (all_bits == 0) return;
  const int passes = (all_bits + kMostBits - 1) / kMostBits;
  const int bits = (all_bits + passes - 1) / passes;
  std::vector<Member> sorted(members.size());
  for (int shift = 0; shift < all_bits; shift += bits) {
    const auto digit_of = [&](const Member& member) {
      return (numbers_.NumberOf(member.hash) >> shift) & ((size_t{1} << bits) - 1);
    };
    std::array<size_t, (size_t{1} << kMostBits) + 1> starts = {};
    for (const Member& member : members) ++starts[digit_of(member) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (const Member& member : members) sorted[starts[digit_of(member)]++] = member;
    members.swap(sorted);
  }
}

// Adds the next bucket, of these members. False if one of them is there twice; the bucket then
// lacks it.
bool MemberIndex::FillBucket(std::span<const Member> members, const IsTwice& is_twice) {
  const size_t number = buckets_.size();
  IndexBucket* bucket = IndexBucket::Make(members.size());
  const auto same_as = [&](const Member& member) {
    return [&](size_t i) { return members[i].hash == member.hash && is_twice(members[i], member); };
  };
  bool each_once = true;
  for (const Member& member : members) {
    each_once = !bucket->FindTag(TagOf(member.hash), same_as(member));
    if (!each_once) break;
    bucket = IndexBucket::Add(bucket, EntryFor(number, member.hash, member.id));
  }
  buckets_.Append(bucket);
  bytes_used_ += bucket->allocated_bytes();
  size_ += bucket->count();
  return each_once;
}

MemberIndex::MemberIndex(const MemberIndex& other)
    : numbers_(other.numbers_), size_(other.size_), swept_(other.swept_) {
  for (size_t i = 0; i < other.buckets_.size(); ++i) {
    buckets_.Append(IndexBucket::Clone(*other.buckets_[i]));
    bytes_used_ += buckets_[i]->allocated_bytes();
  }
}

MemberIndex::~MemberIndex() {
  for (size_t i = 0; i < buckets_.size(); ++i) IndexBucket::Free(buckets_[i]);
}

bool MemberIndex::IsTooWide() const {
  return size_ < kMergeBelow * buckets_.size() && buckets_.size() > 1;
}

void MemberIndex::Replace(size_t bucket, IndexBucket* changed, size_t bytes_before) {
  buckets_[bucket] = changed;
  bytes_used_ += changed->allocated_bytes() - bytes_before;
}

void MemberIndex::Insert(uint64_t hash, uint32_t id) {
  const size_t at = numbers_.NumberOf(hash);
  const size_t before = buckets_[at]->allocated_bytes();
  Replace(at, IndexBucket::Add(buckets_[at], EntryFor(at, hash, id)), before);
  ++size_;
}

void MemberIndex::PrepareSplit(const Blocks& blocks) {
  const size_t most = kSplitAbove * buckets_.size();
  size_ > most ? SplitOne(blocks) : PrefetchForSplit(most - size_, blocks);
}

// In a large set, the blocks that a split by hashes reads are seldom cached, which takes 2 of its 6
// us. So the first of the last insertions before it prefetches the bucket. Each later one
// prefetches, for every sixteenth entry, the next memory to be read: the block, or the member if
// the insertion before has fetched the block.
void MemberIndex::PrefetchForSplit(size_t insertions_left, const Blocks& blocks) const {
  constexpr size_t kStride = kPrefetching - 1;
  const size_t number = LinearHashing::OriginOf(numbers_.count());
  if (!SplitsByHashes(number)) return;
  const IndexBucket& bucket = *buckets_[number];
  if (insertions_left == kPrefetching) return bucket.Prefetch();
  for (size_t i = insertions_left; i < bucket.count() && insertions_left < kStride; i += kStride) {
    blocks.PrefetchMember(bucket.IdAt(i), bucket.TagAt(i));
  }
  for (size_t i = insertions_left - 1; i < bucket.count(); i += kStride) {
    blocks.PrefetchBlock(bucket.IdAt(i));
  }
}

void MemberIndex::Remove(uint64_t hash, uint32_t id, const Blocks& blocks) {
  const size_t at = numbers_.NumberOf(hash);
  IndexBucket& bucket = *buckets_[at];
  bucket.Remove(PlaceOf(bucket, EntryFor(at, hash, id)));
  --size_;
  if (IsTooWide()) MergeOne(blocks);
}

void MemberIndex::Move(uint64_t hash, uint32_t from, uint32_t to) {
  const size_t at = numbers_.NumberOf(hash);
  IndexBucket* bucket = buckets_[at];
  const size_t before = bucket->allocated_bytes();
  Replace(at, IndexBucket::SetId(bucket, PlaceOf(*bucket, EntryFor(at, hash, from)), to), before);
}

void MemberIndex::SplitOne(const Blocks& blocks) {
  const size_t low = LinearHashing::OriginOf(numbers_.count());
  const IndexBucket& old = *buckets_[low];
  const size_t room = old.count() / 2 + 1;
  IndexBucket* halves[2] = {IndexBucket::Make(room), IndexBucket::Make(room)};
  if (SplitsByHashes(low)) {
    SplitByHashes(low, blocks, halves);
  } else {
    SplitByBits(low, halves);
  }
  size_ -= old.count() - halves[0]->count() - halves[1]->count();
  bytes_used_ +=
      halves[0]->allocated_bytes() + halves[1]->allocated_bytes() - old.allocated_bytes();
  IndexBucket::Free(buckets_[low]);
  buckets_[low] = halves[0];
  buckets_.Append(halves[1]);
  numbers_.Add();
}

void MemberIndex::SplitByBits(size_t number, IndexBucket* (&halves)[2]) const {
  const IndexBucket& old = *buckets_[number];
  const int depth = numbers_.DepthOf(number), shift = depth - FirstBit(depth);
  for (size_t i = 0; i < old.count(); ++i) {
    const IndexBucket::Entry entry = old.At(i);
    IndexBucket*& half = halves[entry.bits >> shift & 1];
    half = IndexBucket::Add(half, entry);
  }
}

void MemberIndex::SplitByHashes(size_t number, const Blocks& blocks,
                                IndexBucket* (&halves)[2]) const {
  const IndexBucket& old = *buckets_[number];
  const int depth = numbers_.DepthOf(number);
  const uint64_t mask = (uint64_t{1} << depth) - 1;
  for (size_t i = 0; i < old.count(); ++i) {
    const auto [id, tag, bits] = old.At(i);
    const auto hash = blocks.HashOf(id, tag, mask, number, old.TwinsBefore(i));
    if (!hash) continue;  // stale
    IndexBucket*& half = halves[*hash >> depth & 1];
    half = IndexBucket::Add(half, {id, tag, BitsOf(*hash, depth + 1)});
  }
}

// The bits of merged entries that they no longer need may be others than those they kept; they are
// bits of the bucket's number. Live entries of the last bucket alone may come to one that this
// round has passed already.
void MemberIndex::MergeOne(const Blocks& blocks) {
  numbers_.Remove();
  const size_t high = numbers_.count(), low = LinearHashing::OriginOf(high);
  IndexBucket* gone = buckets_[high];
  IndexBucket* merged = buckets_[low];
  bytes_used_ -= gone->allocated_bytes() + merged->allocated_bytes();
  for (size_t i = 0; i < gone->count(); ++i) {
    if (!blocks.IsThere(gone->IdAt(i))) {
      --size_;
      continue;
    }
    merged = IndexBucket::Add(merged, gone->At(i));
  }
  const int depth = numbers_.DepthOf(low);
  if (FirstBit(depth) != FirstBit(depth + 1)) {
    for (size_t i = 0; i < merged->count(); ++i) merged->SetBits(i, BitsOf(low, depth));
  }
  IndexBucket::Free(gone);
  merged = IndexBucket::Shrunk(merged);
  bytes_used_ += merged->allocated_bytes();
  buckets_[low] = merged;
  buckets_.RemoveLast();
}

bool MemberIndex::Sweep(size_t buckets, const Blocks& blocks) {
  for (; buckets > 0 && swept_ < buckets_.size(); --buckets) {
    SweepOne(swept_++, blocks);
    if (swept_ < buckets_.size()) buckets_[swept_]->Prefetch();
    if (IsTooWide()) MergeOne(blocks);
  }
  return swept_ < buckets_.size();
}

void MemberIndex::SweepOne(size_t at, const Blocks& blocks) {
  IndexBucket* bucket = buckets_[at];
  const size_t count_before = bucket->count(), bytes_before = bucket->allocated_bytes();
  for (size_t i = bucket->count(); i-- > 0;) {
    if (!blocks.IsThere(bucket->IdAt(i))) bucket->Remove(i);
  }
  size_ -= count_before - bucket->count();
  if (bucket->count() < count_before) Replace(at, IndexBucket::Shrunk(bucket), bytes_before);
}

}  // namespace zsetd
