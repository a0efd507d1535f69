// Changes that make elements come: inserting, dividing a block that overflows, appending.

#include <algorithm>
#include <array>
#include <cassert>
#include <span>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/block/unpacked_block.h"
#include "core/sorted_set/skip_list/block_hashes.h"
#include "core/sorted_set/skip_list/block_skip_list.h"
#include "core/sorted_set/skip_list/tie_breaker.h"

namespace zsetd {
namespace {

// The hashes of the items' members. The items get the tags that they begin with.
using Hashes = std::array<uint64_t, UnpackedBlock::kCapacity>;
Hashes HashAndTag(std::span<BlockItem> items) {
  assert(items.size() <= UnpackedBlock::kCapacity);
  Hashes hashes;
  for (size_t i = 0; i < items.size(); ++i) {
    hashes[i] = KeyedHash(items[i].member);
    items[i].tag = MemberIndex::TagOf(hashes[i]);
  }
  return hashes;
}

}  // namespace

BlockSkipList::BlockSkipList(Block* block) : levels_(0, block->count()) {
  UnpackedBlock unpacked(*block);
  const Hashes hashes = HashAndTag(unpacked.items());
  Block* tagged = Block::Pack(unpacked.items(), PlanBlock(unpacked.items(), true));
  row_.Add(tagged, nullptr);
  Register(unpacked.items(), hashes.data(), tagged->id);
  Block::Free(block);
}

void BlockSkipList::Insert(BlockItem item) {
  const Spot spot = SpotFor(item.code, item.member);
  item.tag = MemberIndex::TagOf(spot.hash);
  Insert(spot, item);
}

void BlockSkipList::Insert(const Spot& spot, const BlockItem& item) {
  row_.CountLarge(item.large);
  levels_.Add(spot.path, 1);
  const size_t blocks_before = row_.count();
  index_.Insert(spot.hash, InsertInto(row_.At(spot.path.child), item));
  const bool has_new_block = row_.count() > blocks_before;  // which is enough for one insertion
  if (!has_new_block) index_.SplitIfFull(BlockHashes(row_, renamings_));
  Tidy();
}

// Returns the name by which the index is to know the item, which is the caller's business. The
// levels count it already.
uint32_t BlockSkipList::InsertInto(Block* block, const BlockItem& item) {
  const size_t i = block->LowerBound(item.code, item.member);
  block->PrefetchBehind(i);
  const size_t bytes = block->allocated_bytes();
  Block* grown = InsertOrGrow(block, i, item);
  if (grown == nullptr) return Overflow(block, i, item);
  if (grown != block) row_.Replace(grown, bytes);
  return renamings_.NoteInsertion(grown->id, i);
}

// At an edge the item starts a block of its own; elsewhere its block is divided. The first part
// keeps the block's id, which the elements of the others keep as their name for a while.
uint32_t BlockSkipList::Overflow(Block* block, size_t i, const BlockItem& item) {
  if (block->next == BlockRow::kNone && i == block->count()) return AddLast(item);
  if (block->previous == BlockRow::kNone && i == 0) return AddFirst(item);

  Settle(block->id);
  LeaveFewPending();
  const size_t all = block->count() + 1, bytes = block->allocated_bytes();
  const std::vector<Block*> parts = Divided(block, i, item);
  const uint32_t name = parts[0]->id;
  row_.Replace(parts[0], bytes);
  for (size_t part = 1, begin = parts[0]->count(); part < parts.size(); ++part) {
    renamings_.Start(name, AddBehind(*parts[part - 1], parts[part], all - begin));
    begin += parts[part]->count();
  }
  return name;
}

// Puts the block into the row and the levels, which have counted the elements from its first on to
// `left` so far.
uint32_t BlockSkipList::AddBehind(Block& left, Block* block, size_t elements_from_it) {
  MemberBuffer buffers[2];
  const BlockItem before = left.ItemAt(left.count() - 1, buffers[0]);
  const BlockItem first = block->ItemAt(0, buffers[1]);
  const uint32_t id = row_.Add(block, &left);
  levels_.Split(first.code, TieBreaker(before, first), id, elements_from_it);
  return id;
}

uint32_t BlockSkipList::AddLast(const BlockItem& item) {
  MemberBuffer buffer;
  Block* last = row_.Last();
  const BlockItem before = last->ItemAt(last->count() - 1, buffer);
  const uint32_t id = row_.Add(PackAll({&item, 1}, true)[0], last);
  levels_.Split(item.code, TieBreaker(before, item), id, 1);
  return id;
}

uint32_t BlockSkipList::AddFirst(const BlockItem& item) {
  MemberBuffer buffer;
  Block* first = row_.First();
  const BlockItem after = first->ItemAt(0, buffer);
  const size_t count = first->count();
  const uint32_t id = row_.Add(PackAll({&item, 1}, true)[0], nullptr);
  levels_.Prepend(after.code, TieBreaker(item, after), id, count);
  return id;
}

// The items, whose members have these hashes, have come to stand in the block.
void BlockSkipList::Register(std::span<const BlockItem> items, const uint64_t* hashes,
                             uint32_t id) {
  for (const BlockItem& item : items) {
    row_.CountLarge(item.large);
    index_.Insert(*hashes++, id);
    index_.SplitIfFull(BlockHashes(row_, renamings_));
  }
}

}  // namespace zsetd
