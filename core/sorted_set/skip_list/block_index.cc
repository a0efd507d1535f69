#include "core/sorted_set/skip_list/block_index.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/block/block_reader.h"
#include "core/util/allocation.h"

namespace zsetd {

BlockIndex::BlockIndex(BlockTable& blocks, std::vector<MemberIndex::Member> members)
    : blocks_(blocks), index_(std::move(members), [this](const auto& first, const auto& second) {
        return IsTwice(first, second);
      }) {}

// Whether two elements of the same hash, in these blocks, have the same member.
bool BlockIndex::IsTwice(const MemberIndex::Member& first,
                         const MemberIndex::Member& second) const {
  const Block& left = *blocks_.At(first.id);
  const Block& right = *blocks_.At(second.id);
  const uint8_t tag = MemberIndex::TagOf(first.hash);
  MemberBuffer buffers[2];
  return left.FindTag(tag, [&](size_t i) {
    return right.FindTag(tag, [&](size_t j) {
      const bool is_one_element = &left == &right && i == j;
      return !is_one_element && left.MemberAt(i, buffers[0]) == right.MemberAt(j, buffers[1]);
    });
  });
}

size_t BlockIndex::BytesUsed() const {
  return index_.BytesUsed() + pending_moves_.BytesUsed() +
         AllocatedBytes(cut_ids_.in_round.data()) + AllocatedBytes(cut_ids_.later.data());
}

BlockPlace BlockIndex::Find(std::string_view member, uint64_t hash) const {
  BlockPlace place;
  const auto find_in = [&](uint32_t id) {
    const Block* block = blocks_.Find(id);
    if (block == nullptr) return false;
    block->PrefetchTags();
    const size_t index = block->Find(member, MemberIndex::TagOf(hash));
    if (index == block->count()) return false;
    place = {block, index};
    return true;
  };
  index_.Find(hash,
              [&](uint32_t id) { return find_in(id) || pending_moves_.AnyOther(id, find_in); });
  return place;
}

void BlockIndex::Prefetch(uint64_t hash, PrefetchStep step) const {
  if (step == PrefetchStep::kIndex) return index_.Prefetch(hash);
  const uint8_t tag = MemberIndex::TagOf(hash);
  index_.Find(hash, [&](uint32_t id) {
    const Block* block = blocks_.Find(id);
    if (block == nullptr) return false;
    step == PrefetchStep::kBlock ? block->PrefetchTags() : block->PrefetchElement(tag);
    return false;
  });
}

// A bucket has tags and blocks, not members. Members are found in the blocks by tag, and their
// hashes show whether they belong to the bucket.
uint64_t BlockIndex::Scan(uint64_t cursor, const Visitor& visit) const {
  MemberBuffer buffer;
  return index_.Scan(cursor, [&](uint8_t tag, uint32_t id) {
    FindTag(id, tag, [&](const Block& block, size_t i) {
      const std::string_view member = block.MemberAt(i, buffer);
      if (index_.ShareBucket(KeyedHash(member), cursor)) visit(member, block.CodeAt(i));
      return false;
    });
  });
}

// Calls visit(block, i) for each element with that tag that is indexed under that id, always in the
// same order, until it returns true. Returns whether it did.
template <class Visit>
bool BlockIndex::FindTag(uint32_t id, uint8_t tag, Visit visit) const {
  const auto find_in = [&](uint32_t at) {
    const Block* block = blocks_.Find(at);
    return block != nullptr && block->FindTag(tag, [&](size_t i) {
      return pending_moves_.IndexedId(at, i) == id && visit(*block, i);
    });
  };
  return find_in(id) || pending_moves_.AnyOther(id, find_in);
}

std::optional<uint64_t> BlockIndex::HashOf(uint32_t id, uint8_t tag, uint64_t mask,
                                           uint64_t low_bits, size_t nth) const {
  std::optional<uint64_t> found;
  MemberBuffer buffer;
  FindTag(id, tag, [&](const Block& block, size_t i) {
    const uint64_t hash = KeyedHash(block.MemberAt(i, buffer));
    if ((hash & mask) == low_bits && nth-- == 0) found = hash;
    return found.has_value();
  });
  return found;
}

void BlockIndex::PrefetchBlock(uint32_t id) const {
  if (const Block* block = blocks_.Find(id)) block->PrefetchTags();
}

void BlockIndex::PrefetchMember(uint32_t id, uint8_t tag) const {
  if (const Block* block = blocks_.Find(id)) block->PrefetchMember(tag);
}

void BlockIndex::Tidy() {
  MoveSome();
  Sweep(kSweptPerChange);
}

// Blocks are split some sixty changes apart; eight or nine changes complete the moves of one split.
void BlockIndex::MoveSome() {
  constexpr size_t kMovedPerChange = 8;
  if (pending_moves_.empty()) return;
  PendingMoves::Move& move = pending_moves_.first();
  const Block& block = *blocks_.At(move.to);
  const size_t first = move.moved;
  const size_t last = std::min(first + kMovedPerChange, block.count());
  MoveEntries(block, first, last, move.from, move.to);
  move.moved = last;
  if (last == block.count()) pending_moves_.EndFirst();
}

void BlockIndex::MoveRest(const PendingMoves::Move& move) {
  const Block& block = *blocks_.At(move.to);
  MoveEntries(block, move.moved, block.count(), move.from, move.to);
}

// The elements of the block from `first` to before `last`.
void BlockIndex::MoveEntries(const Block& block, size_t first, size_t last, uint32_t from,
                             uint32_t to) {
  if (first == last) return;
  std::array<uint64_t, Block::kMaxCount> hashes;
  BlockReader reader(block, first);
  for (size_t i = first; i < last; ++i) {
    if (i > first) reader.Forward();
    hashes[i] = KeyedHash(reader.member());
    index_.Prefetch(hashes[i]);
  }
  for (size_t i = first; i < last; ++i) index_.Move(hashes[i], from, to);
}

// Each search checks all pending moves, so their number is limited.
void BlockIndex::PrepareSplit(uint32_t block) {
  constexpr size_t kMostPending = 4;
  Settle(block);
  for (; pending_moves_.size() >= kMostPending; pending_moves_.EndFirst()) {
    MoveRest(pending_moves_.first());
  }
}

void BlockIndex::Settle(uint32_t block) {
  SettleWhere(
      [&](const PendingMoves::Move& move) { return move.from == block || move.to == block; });
}

template <class Is>
void BlockIndex::SettleWhere(Is is) {
  for (const PendingMoves::Move& move : pending_moves_) {
    if (is(move)) MoveRest(move);
  }
  pending_moves_.EndWhere(is);
}

void BlockIndex::MoveAll(const Block& block, uint32_t to) {
  MoveEntries(block, 0, block.count(), block.id, to);
}

void BlockIndex::Forget(uint32_t block) {
  pending_moves_.EndWhere([&](const PendingMoves::Move& move) { return move.to == block; });
  Settle(block);
}

void BlockIndex::PrepareCut() {
  SettleWhere([](const PendingMoves::Move&) { return true; });
}

// Sweeps two buckets for each block that was cut out, so that sweeping keeps up with cutting, but
// at most for about a millisecond.
void BlockIndex::StartSweep(std::vector<uint32_t> ids) {
  constexpr size_t kSweptPerBlock = 2, kMostSwept = 2000;
  const size_t swept = std::min(kMostSwept, kSweptPerBlock * ids.size());
  if (cut_ids_.in_round.empty()) {
    cut_ids_.in_round = std::move(ids);
    index_.StartSweep();
  } else {
    cut_ids_.later.insert(cut_ids_.later.end(), ids.begin(), ids.end());
  }
  Sweep(swept);
}

void BlockIndex::Sweep(size_t buckets) {
  if (cut_ids_.in_round.empty()) return;
  if (index_.Sweep(buckets, *this)) return;
  blocks_.FreeIds(cut_ids_.in_round);
  cut_ids_.in_round = std::exchange(cut_ids_.later, {});
  index_.StartSweep();
}

void BlockIndex::CheckHas([[maybe_unused]] const Block& block, [[maybe_unused]] size_t i,
                          std::string_view member) const {
  [[maybe_unused]] const uint64_t hash = KeyedHash(member);
  assert(Find(member, hash).block == &block && Find(member, hash).index == i);
  assert(index_.Find(hash, [&](uint32_t id) { return id == IdOf(block.id, i); }));
}

void BlockIndex::Check() const {
  for ([[maybe_unused]] const PendingMoves::Move& move : pending_moves_) {
    assert(blocks_.Find(move.from) != nullptr && blocks_.Find(move.to) != nullptr);
    assert(move.moved <= blocks_.At(move.to)->count());
    assert(!pending_moves_.AnyOther(move.to, [](uint32_t) { return true; }));
  }
  [[maybe_unused]] size_t elements = 0;
  for (const Block* block = blocks_.First(); block; block = blocks_.Next(*block)) {
    elements += block->count();
  }
  assert(cut_ids_.in_round.empty() ? index_.size() == elements : index_.size() >= elements);
}

}  // namespace zsetd
