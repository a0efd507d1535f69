#include "core/sorted_set/skip_list/block_skip_list.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/block/block_builder.h"
#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/block/unpacked_block.h"
#include "core/sorted_set/skip_list/tie_breaker.h"

namespace zsetd {
namespace {

constexpr size_t kUnderfull = Block::kMaxCount / 4;   // elements; fewer are merged with others
constexpr size_t kShortList = 4;                      // blocks; may become one block again
constexpr size_t kSmallAgain = Block::kMaxCount / 2;  // elements in the only block
constexpr size_t kLong = 16 * Block::kMaxCount;       // elements; a longer range is cut

// Whether element `i` keeps its position with that code, judged by its block alone.
bool KeepsPlace(const Block& block, size_t i, uint64_t code) {
  const bool rises = code > block.CodeAt(i);
  const bool above_previous = i > 0 ? block.CodeAt(i - 1) < code : rises;
  const bool below_next = i + 1 < block.count() ? code < block.CodeAt(i + 1) : !rises;
  return above_previous && below_next;
}

bool IsBetweenEnds(const Block& block, uint64_t code) {
  return block.CodeAt(0) < code && code < block.CodeAt(block.count() - 1);
}

}  // namespace

BlockSkipList::BlockSkipList(Block* block) : levels_(0, block->count()) {
  UnpackedBlock unpacked(*block);
  std::array<uint64_t, UnpackedBlock::kCapacity> hashes;
  size_t count = 0;
  for (BlockItem& item : unpacked.items()) {
    const uint64_t hash = hashes[count++] = KeyedHash(item.member);
    item.tag = MemberIndex::TagOf(hash);
    blocks_.CountLarge(item.large);
    blocks_.CountLarge(item.payload().large());
  }
  Block* tagged = BlockBuilder::Pack(unpacked.items(), PlanBlock(unpacked.items(), true));
  Block::Free(block);
  blocks_.Add(tagged, nullptr);
  for (const uint64_t hash : std::span(hashes).first(count)) {
    index_.Insert(hash, tagged->id);
    index_.SplitIfFull();
  }
  if (tagged->has_deadlines()) TrackDeadlines();
}

BlockSkipList::BlockSkipList(std::span<Block* const> blocks,
                             std::vector<MemberIndex::Member> members)
    : blocks_(blocks), levels_(LeavesOf(blocks_)), index_(blocks_, std::move(members)) {}

std::unique_ptr<BlockSkipList> BlockSkipList::Make(std::span<Block* const> blocks,
                                                   std::vector<MemberIndex::Member> members) {
  assert(!blocks.empty());
  std::unique_ptr<BlockSkipList> list(new BlockSkipList(blocks, std::move(members)));
  return list->index_.size() == list->size() ? std::move(list) : nullptr;
}

std::vector<SeparatorLevels::Leaf> BlockSkipList::LeavesOf(const BlockTable& blocks) {
  std::vector<SeparatorLevels::Leaf> leaves;
  leaves.reserve(blocks.count());
  MemberBuffer buffers[2];
  for (const Block* block = blocks.First(); block != nullptr; block = blocks.Next(*block)) {
    const BlockItem first = block->ItemAt(0, buffers[0]);
    SeparatorLevels::Leaf& leaf = leaves.emplace_back();
    leaf.code = first.code;
    leaf.child = block->id;
    leaf.span = block->count();
    const Block* left = blocks.Previous(*block);
    if (left == nullptr) continue;
    leaf.tie = TieBreaker(left->ItemAt(left->count() - 1, buffers[1]), first);
  }
  return leaves;
}

std::unique_ptr<BlockSkipList> BlockSkipList::Clone() const {
  return std::unique_ptr<BlockSkipList>(new BlockSkipList(*this));
}

size_t BlockSkipList::BytesUsed() const {
  const size_t deadline_bytes = deadlines_ == nullptr ? 0 : deadlines_->BytesUsed();
  return blocks_.BytesUsed() + levels_.BytesUsed() + index_.BytesUsed() + deadline_bytes;
}

void BlockSkipList::TrackDeadlines() {
  deadlines_ = std::make_unique<BlockDeadlines>();
  for (const Block* block = blocks_.First(); block != nullptr; block = blocks_.Next(*block)) {
    deadlines_->Set(block->id, block->EarliestDeadline());
  }
}

// Must be called after elements or deadlines of the block were added or removed.
void BlockSkipList::NoteDeadlines(const Block& block) {
  if (deadlines_ == nullptr) return;
  deadlines_->Set(block.id, block.EarliestDeadline());
  if (deadlines_->Earliest() == kNoDeadline) deadlines_.reset();
}

// Like the function above, for a change of one deadline from `before` to `after`. Few elements have
// the earliest deadline of their block, so the whole block is seldom read.
void BlockSkipList::NoteDeadlines(const Block& block, uint64_t before, uint64_t after) {
  if (deadlines_ == nullptr) return;
  const uint64_t earliest = deadlines_->Of(block.id);
  if (after < earliest) {
    deadlines_->Set(block.id, after);
  } else if (before == earliest) {
    NoteDeadlines(block);
  }
}

// The block leaves the list.
void BlockSkipList::ForgetDeadlines(uint32_t id) {
  if (deadlines_ == nullptr) return;
  deadlines_->Set(id, kNoDeadline);
  if (deadlines_->Earliest() == kNoDeadline) deadlines_.reset();
}

void BlockSkipList::SetDeadline(BlockPlace place, uint64_t deadline) {
  const uint64_t before = place.block->DeadlineAt(place.index);
  if (deadline == before) return;
  Block* block = blocks_.Mutable(place.block);
  const size_t bytes = block->allocated_bytes();
  Block* changed = SetDeadlineOrGrow(block, place.index, deadline);
  if (changed != block) blocks_.Replace(changed, bytes);
  if (deadlines_ == nullptr) return TrackDeadlines();
  NoteDeadlines(*changed, before, deadline);
}

BlockSkipList::Spot BlockSkipList::SpotFor(uint64_t code, std::string_view member) const {
  const uint64_t hash = KeyedHash(member);
  index_.Prefetch(hash);
  const Spot spot{code, hash, levels_.Find(code, member)};
  blocks_.At(spot.path.child)->Prefetch();
  return spot;
}

BlockPlace BlockSkipList::Find(std::string_view member) const {
  return Find(member, KeyedHash(member));
}

size_t BlockSkipList::RankOf(BlockPlace place, std::string_view member) const {
  return levels_.Find(place.block->CodeAt(place.index), member).before + place.index;
}

size_t BlockSkipList::CountBefore(uint64_t code, std::string_view member) const {
  const SeparatorLevels::Path path = levels_.Find(code, member);
  return path.before + blocks_.At(path.child)->LowerBound(code, member);
}

BlockPlace BlockSkipList::At(size_t rank) const {
  const SeparatorLevels::Path path = levels_.FindRank(rank);
  return {blocks_.At(path.child), rank - path.before};
}

void BlockSkipList::Insert(BlockItem item) {
  const Spot spot = SpotFor(item.code, item.member);
  item.tag = MemberIndex::TagOf(spot.hash);
  Insert(spot, item);
}

void BlockSkipList::Insert(const Spot& spot, const BlockItem& item) {
  blocks_.CountLarge(item.large);
  if (item.payload_length > 0) [[unlikely]]
    blocks_.CountLarge(item.payload().large());
  const size_t blocks_before = blocks_.count();
  index_.Insert(spot.hash, InsertInto(CountIn(spot.path), item));
  const bool has_new_block = blocks_.count() > blocks_before;  // which is enough for one insertion
  if (!has_new_block) index_.SplitIfFull();
  index_.Tidy();
}

// Returns the id by which the index is to have the item, which is the caller's business. The levels
// count it already.
uint32_t BlockSkipList::InsertInto(const Block* block, const BlockItem& item) {
  const size_t i = block->LowerBound(item.code, item.member);
  block->PrefetchBehind(i);
  const size_t bytes = block->allocated_bytes();
  Block* changed = blocks_.Mutable(block);
  Block* grown = InsertOrGrow(changed, i, item);
  if (grown == nullptr) return Overflow(changed, i, item);
  if (grown != changed) blocks_.Replace(grown, bytes);
  return index_.RecordInsertion(grown->id, i);
}

// At an edge the item starts a block of its own; elsewhere its block is split. The first part keeps
// the block's id, by which the index has the elements of the others for a while.
uint32_t BlockSkipList::Overflow(Block* block, size_t i, const BlockItem& item) {
  if (block->next == BlockTable::kNone && i == block->count()) return AddLast(item);
  if (block->previous == BlockTable::kNone && i == 0) return AddFirst(item);

  index_.PrepareSplit(block->id);
  const size_t all = block->count() + 1, bytes = block->allocated_bytes();
  const std::vector<Block*> parts = Split(block, i, item);
  const uint32_t id = parts[0]->id;
  blocks_.Replace(parts[0], bytes);
  for (size_t part = 1, begin = parts[0]->count(); part < parts.size(); ++part) {
    index_.StartMove(id, AddBehind(*parts[part - 1], parts[part], all - begin));
    begin += parts[part]->count();
  }
  // Where elements have come from is noted last: in between, none may seem to have a deadline.
  for (size_t part = parts.size(); part-- > 0;) NoteDeadlines(*parts[part]);
  return id;
}

// Puts the block into the list and the levels, which have counted the elements from its first on to
// `left` so far.
uint32_t BlockSkipList::AddBehind(const Block& left, Block* block, size_t elements_from_it) {
  MemberBuffer buffers[2];
  const BlockItem before = left.ItemAt(left.count() - 1, buffers[0]);
  const BlockItem first = block->ItemAt(0, buffers[1]);
  const uint32_t id = blocks_.Add(block, &left);
  levels_.Split(first.code, TieBreaker(before, first), id, elements_from_it);
  return id;
}

uint32_t BlockSkipList::AddLast(const BlockItem& item) {
  MemberBuffer buffer;
  const Block* last = blocks_.Last();
  const BlockItem before = last->ItemAt(last->count() - 1, buffer);
  const uint32_t id = blocks_.Add(PackAll({&item, 1}, true)[0], last);
  levels_.Split(item.code, TieBreaker(before, item), id, 1);
  return id;
}

uint32_t BlockSkipList::AddFirst(const BlockItem& item) {
  MemberBuffer buffer;
  const Block* first = blocks_.First();
  const BlockItem after = first->ItemAt(0, buffer);
  const size_t count = first->count();
  const uint32_t id = blocks_.Add(PackAll({&item, 1}, true)[0], nullptr);
  levels_.Prepend(after.code, TieBreaker(item, after), id, count);
  return id;
}

// Counts one more element in the path's block, which it returns.
const Block* BlockSkipList::CountIn(const SeparatorLevels::Path& path) {
  assert(path);
  levels_.Add(path, 1);
  return blocks_.At(path.child);
}

void BlockSkipList::Move(BlockPlace place, const Spot& to, std::string_view member) {
  const Block* block = place.block;
  const size_t i = place.index;
  if (KeepsPlace(*block, i, to.code) && blocks_.Mutable(block)->SetCode(i, to.code)) return;
  if (!block->has_payloads()) [[likely]]
    return Reinsert(place, to, member, {});
  Reinsert(place, to, member, KeptPayload(block->PayloadAt(i)).get());
}

bool BlockSkipList::HasPayloads() const {
  const Block* block = blocks_.First();
  while (block != nullptr && !block->has_payloads()) block = blocks_.Next(*block);
  return block != nullptr;
}

void BlockSkipList::SetPayload(BlockPlace place, std::string_view member,
                               const PackedPayload& payload) {
  const size_t bytes = place.block->allocated_bytes();
  const uint64_t deadline = place.block->DeadlineAt(place.index);
  Block* changed = blocks_.Mutable(place.block);
  LargeMember* const old = changed->PayloadAt(place.index).large();
  blocks_.CountLarge(payload.large());
  if (Block* set = SetPayloadOrGrow(changed, place.index, payload)) {
    if (set != changed) blocks_.Replace(set, bytes);
  } else {
    Reinsert(place, {.code = place.code(), .hash = KeyedHash(member), .path = {}}, member, payload);
    if (deadline != kNoDeadline) SetDeadline(Find(member), deadline);
  }
  blocks_.FreeLarge(old);
}

// Erases the element and inserts it at the spot with this payload, whose bytes are not in the
// block. The index changes only if it is to have the element by another id.
void BlockSkipList::Reinsert(BlockPlace place, const Spot& to, std::string_view member,
                             const PackedPayload& payload) {
  const Block* block = place.block;
  const size_t i = place.index;
  block->PrefetchBehind(i);
  const uint32_t id_before = index_.IdOf(block->id, i);
  BlockItem item = {to.code, member, block->LargeAt(i), MemberIndex::TagOf(to.hash)};
  item.set_payload(payload);
  if (IsBetweenEnds(*block, to.code)) {  // the levels need not know
    Block* changed = blocks_.Mutable(block);
    const uint64_t deadline = changed->DeadlineAt(i);
    changed->Erase(i, i + 1);
    NoteDeadlines(*changed, deadline, kNoDeadline);
    block = changed;
    index_.RecordErasure(block->id, i);
  } else {
    const size_t blocks_before = blocks_.count();
    EraseIn(block, i, member);
    const bool has_path = to.path && blocks_.count() == blocks_before;
    block = has_path ? CountIn(to.path) : CountIn(levels_.Find(to.code, member));
    block->Prefetch();
  }
  const uint32_t id = InsertInto(block, item);
  if (id != id_before) index_.Move(to.hash, id_before, id);
  index_.Tidy();
}

void BlockSkipList::Erase(BlockPlace place, std::string_view member) {
  const Block* block = place.block;
  block->PrefetchBehind(place.index);
  index_.Remove(KeyedHash(member), index_.IdOf(block->id, place.index));
  Block* const changed = blocks_.Mutable(block);
  blocks_.FreeLarge(changed->LargeAt(place.index));
  if (changed->has_payloads()) [[unlikely]]
    blocks_.FreeLarge(changed->PayloadAt(place.index).large());
  EraseIn(block, place.index, member);
  index_.Tidy();
}

// Leaves the index alone, and the LargeMembers if it has some.
void BlockSkipList::EraseIn(const Block* block, size_t i, std::string_view member) {
  const SeparatorLevels::Path path = levels_.Find(block->CodeAt(i), member);
  levels_.Add(path, -1);
  index_.RecordErasure(block->id, i);
  if (block->count() == 1) return Drop(path, block);

  MergeIfUnderfull(TakeOut(block, i, i + 1));
}

// They are not all; returns where the block then is.
const Block* BlockSkipList::TakeOut(const Block* block, size_t first, size_t last) {
  const size_t bytes = block->allocated_bytes();
  const uint64_t earliest = block->EarliestDeadline(first, last);
  Block* changed = blocks_.Mutable(block);
  Block* shrunk = EraseAndShrink(changed, first, last);
  if (shrunk != changed) blocks_.Replace(shrunk, bytes);
  NoteDeadlines(*shrunk, earliest, kNoDeadline);
  return shrunk;
}

// Erases the elements from `first` to before `last` of the path's block.
void BlockSkipList::EraseSome(const SeparatorLevels::Path& path, size_t first, size_t last) {
  const Block* block = blocks_.At(path.child);
  index_.Settle(block->id);
  MemberBuffer buffer;
  std::array<uint64_t, Block::kMaxCount> hashes;
  for (size_t i = first; i < last; ++i) {
    hashes[i] = KeyedHash(block->MemberAt(i, buffer));
    index_.Prefetch(hashes[i]);
  }
  const uint32_t id = block->id;
  blocks_.Mutable(block)->ForEachLarge(first, last,
                                       [this](LargeMember* large) { blocks_.FreeLarge(large); });
  levels_.Add(path, -static_cast<ptrdiff_t>(last - first));
  const bool is_all = last - first == block->count();
  if (!is_all) TakeOut(block, first, last);
  for (size_t i = first; i < last; ++i) {  // the block must exist, but is not read
    index_.Remove(hashes[i], id);
  }
  if (is_all) Drop(path, block);
}

// Removes a block whose elements were removed. The caller removes their entries of the index.
void BlockSkipList::Drop(const SeparatorLevels::Path& path, const Block* block) {
  index_.Forget(block->id);
  ForgetDeadlines(block->id);
  levels_.Remove(path);
  blocks_.Remove(block);
}

// At an end of a long list, elements are often removed one after another, as from a queue. Elements
// moved to another block would be removed soon as well.
void BlockSkipList::MergeIfUnderfull(const Block* block) {
  if (block->count() >= kUnderfull) return;
  const bool at_end = block->previous == BlockTable::kNone || block->next == BlockTable::kNone;
  if (at_end && blocks_.count() > kShortList) return;
  const Block* right = blocks_.Next(*block);
  if (right != nullptr && MergeNeighbours(block, right)) return;
  const Block* left = blocks_.Previous(*block);
  if (left != nullptr) MergeNeighbours(left, block);
}

// Makes one block of two neighbours, if it has room; it keeps the id of the left one. Blocks of two
// nodes do not merge: the keys of the right one would pass to the block after it.
bool BlockSkipList::MergeNeighbours(const Block* left, const Block* right) {
  if (!MayMerge(*left, *right)) return false;
  MemberBuffer buffer;
  const SeparatorLevels::Path path = levels_.Find(right->CodeAt(0), right->MemberAt(0, buffer));
  Block* merged = path.IsFirstOfNode() ? nullptr : Merge(*left, *right);
  if (merged == nullptr) return false;

  index_.Settle(left->id);
  index_.Settle(right->id);
  const size_t span = right->count();
  levels_.Add(path, -static_cast<ptrdiff_t>(span));
  levels_.Remove(path);
  levels_.Add(levels_.Find(left->CodeAt(0), left->MemberAt(0, buffer)), span);
  index_.MoveAll(*right, left->id);

  const uint32_t right_id = right->id;
  blocks_.Remove(right);
  Block* replaced = blocks_.Mutable(left);
  merged->TakePlaceOf(*replaced);
  blocks_.Replace(merged, replaced->allocated_bytes());
  NoteDeadlines(*merged);
  ForgetDeadlines(right_id);
  Block::Free(replaced);
  return true;
}

// Erasing ranges. A short one goes block by block, each member out of the index; of a long one,
// whole blocks are cut out of the levels and the list, and the index is swept afterwards:
//
//   before   ..[a b c][d e f][g h i][j k l][m n o]..       erase c .. m
//   trim     ..[a b]  [d e f][g h i][j k l]  [n o]..       c and m, as if alone
//   cut      ..[a b]                         [n o]..       three ids to sweep for
//
std::shared_ptr<DetachedBlocks> BlockSkipList::Erase(RankRange ranks) {
  std::shared_ptr<DetachedBlocks> detached;
  if (ranks.size() > kLong) {
    TrimToBlocks(ranks);
    detached = Cut(ranks);
  } else {
    EraseBlockByBlock(ranks);
  }
  MergeIfUnderfull(blocks_.At(levels_.FindRank(std::min(ranks.first, size() - 1)).child));
  return detached;
}

void BlockSkipList::EraseBlockByBlock(RankRange ranks) {
  for (size_t left = ranks.size(); left > 0;) {
    const SeparatorLevels::Path path = levels_.FindRank(ranks.first);
    const size_t first = ranks.first - path.before;
    const size_t last = std::min(blocks_.At(path.child)->count(), first + left);
    EraseSome(path, first, last);
    left -= last - first;
  }
}

// Erases what lies in blocks that the range does not cover. It covers others.
void BlockSkipList::TrimToBlocks(RankRange& ranks) {
  const SeparatorLevels::Path front = levels_.FindRank(ranks.first);
  if (ranks.first > front.before) {
    const size_t first = ranks.first - front.before, count = blocks_.At(front.child)->count();
    EraseSome(front, first, count);
    ranks.last -= count - first;
  }
  const SeparatorLevels::Path back = levels_.FindRank(ranks.last - 1);
  const size_t last = ranks.last - back.before;
  if (last < blocks_.At(back.child)->count()) {
    EraseSome(back, 0, last);
    ranks.last -= last;
  }
}

std::shared_ptr<DetachedBlocks> BlockSkipList::Cut(RankRange ranks) {
  index_.PrepareCut();
  std::vector<uint32_t> ids;
  levels_.Cut(ranks.first, ranks.last, ids);
  auto detached = blocks_.Cut(ids);
  for (const uint32_t id : ids) ForgetDeadlines(id);
  index_.StartSweep(std::move(ids));
  return detached;
}

std::unique_ptr<SortedSetSnapshot> BlockSkipList::StartSnapshot() {
  std::vector<uint32_t> ids;
  ids.reserve(blocks_.count());
  levels_.AppendChildren(ids);
  return std::make_unique<SortedSetSnapshot>(blocks_, ids, size());
}

Block* BlockSkipList::ReleaseIfSmall() {
  return blocks_.count() == 1 && size() <= kSmallAgain ? blocks_.ReleaseOnly() : nullptr;
}

void BlockSkipList::Check() const {
  levels_.Check();
  [[maybe_unused]] size_t rank = 0, blocks = 0;
  [[maybe_unused]] uint32_t previous = BlockTable::kNone;
  for (const Block* block = blocks_.First(); block; block = blocks_.Next(*block)) {
    assert(block->previous == previous && block->tagged() && block->count() > 0);
    previous = block->id;
    ++blocks;
    MemberBuffer buffer;
    for (size_t i = 0; i < block->count(); ++i, ++rank) {
      const BlockItem item = block->ItemAt(i, buffer);
      assert(CountBefore(item.code, item.member) == rank);
      index_.CheckHas(*block, i, item.member);
    }
  }
  assert(rank == size() && blocks == blocks_.count());
  CheckDeadlines();
  index_.Check();
}

// Every block is noted with its earliest deadline, and no other ID with any.
void BlockSkipList::CheckDeadlines() const {
  [[maybe_unused]] uint64_t earliest = kNoDeadline;
  for (const Block* block = blocks_.First(); block; block = blocks_.Next(*block)) {
    earliest = std::min(earliest, block->EarliestDeadline());
    assert(block->has_deadlines() == (block->EarliestDeadline() != kNoDeadline));
    assert(!has_deadlines() || deadlines_->Of(block->id) == block->EarliestDeadline());
  }
  assert(earliest == EarliestDeadline() && has_deadlines() == (earliest != kNoDeadline));
  assert(!has_deadlines() || EarliestBlock().EarliestDeadline() == earliest);
}

}  // namespace zsetd
