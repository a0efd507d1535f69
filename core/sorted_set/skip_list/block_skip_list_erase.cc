// Changes that make elements go: erasing, moving to another score, joining blocks that got thin.

#include <algorithm>
#include <array>
#include <cassert>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/skip_list/block_hashes.h"
#include "core/sorted_set/skip_list/block_skip_list.h"

namespace zsetd {
namespace {

constexpr size_t kThin = Block::kMaxCount / 4;        // elements; fewer look for a block to join
constexpr size_t kShortRow = 4;                       // blocks; may become one block again
constexpr size_t kSmallAgain = Block::kMaxCount / 2;  // elements in the only block

// Whether element `i` may take that code and stay where it is, as far as its block can tell.
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

// The index hears of it only if it is to know the element by another name.
void BlockSkipList::Move(BlockPlace place, uint64_t code, std::string_view member) {
  Block* block = row_.At(place.block->id);
  const size_t i = place.index;
  if (KeepsPlace(*block, i, code) && block->SetCode(i, code)) return;

  block->PrefetchBehind(i);
  const uint64_t hash = KeyedHash(member);
  const uint32_t from = renamings_.NameOf(block->id, i);
  const BlockItem item = {code, member, block->LargeAt(i), MemberIndex::TagOf(hash)};
  if (IsBetweenEnds(*block, code)) {  // the levels need not know
    block->Erase(i, i + 1);
    renamings_.NoteErasure(block->id, i);
  } else {
    EraseIn(block, i, member);
    const Levels::Path path = levels_.Find(code, member);
    levels_.Add(path, 1);
    block = row_.At(path.child);
    block->Prefetch();
  }
  const uint32_t to = InsertInto(block, item);
  if (to != from) index_.Move(hash, from, to);
  Tidy();
}

void BlockSkipList::Erase(BlockPlace place, std::string_view member) {
  Block* block = row_.At(place.block->id);
  block->PrefetchBehind(place.index);
  const uint32_t name = renamings_.NameOf(block->id, place.index);
  index_.Remove(KeyedHash(member), name, BlockHashes(row_, renamings_));
  row_.FreeLarge(block->LargeAt(place.index));
  EraseIn(block, place.index, member);
  Tidy();
}

// Leaves the index alone, and the LargeMember if it is one.
void BlockSkipList::EraseIn(Block* block, size_t i, std::string_view member) {
  const Levels::Path path = levels_.Find(block->CodeAt(i), member);
  levels_.Add(path, -1);
  renamings_.NoteErasure(block->id, i);
  if (block->count() == 1) return Drop(path, block);

  JoinIfThin(TakeOut(block, i, i + 1));
}

// They are not all; returns where the block then is.
Block* BlockSkipList::TakeOut(Block* block, size_t first, size_t last) {
  const size_t bytes = block->allocated_bytes();
  Block* shrunk = EraseAndShrink(block, first, last);
  if (shrunk != block) row_.Replace(shrunk, bytes);
  return shrunk;
}

// Erases the elements from `first` to before `last` of the path's block.
void BlockSkipList::EraseSome(const Levels::Path& path, size_t first, size_t last) {
  Block* block = row_.At(path.child);
  Settle(block->id);
  MemberBuffer buffer;
  std::array<uint64_t, Block::kMaxCount> hashes;
  for (size_t i = first; i < last; ++i) {
    hashes[i] = KeyedHash(block->MemberAt(i, buffer));
    index_.Prefetch(hashes[i]);
  }
  const uint32_t id = block->id;
  for (size_t i = first; i < last; ++i) row_.FreeLarge(block->LargeAt(i));
  levels_.Add(path, -static_cast<ptrdiff_t>(last - first));
  const bool is_all = last - first == block->count();
  if (!is_all) TakeOut(block, first, last);
  for (size_t i = first; i < last; ++i) {  // for which the block must be there, but not be read
    index_.Remove(hashes[i], id, BlockHashes(row_, renamings_));
  }
  if (is_all) Drop(path, block);
}

// The block's elements go; what the index knows of them is the caller's business, so none of them
// is renamed any more.
void BlockSkipList::Drop(const Levels::Path& path, Block* block) {
  renamings_.EndWhere([&](const auto& renaming) { return renaming.to == block->id; });
  Settle(block->id);
  levels_.Remove(path);
  row_.Remove(block);
}

// At an end of a long row elements often go one after another, as from a queue: what another block
// took over would go soon as well. Without that, the lowest of a million took 200 ns each to pop
// instead of 160.
void BlockSkipList::JoinIfThin(Block* block) {
  if (block->count() >= kThin) return;
  const bool at_end = block->previous == BlockRow::kNone || block->next == BlockRow::kNone;
  if (at_end && row_.count() > kShortRow) return;
  Block* right = row_.Next(*block);
  if (right != nullptr && Join(block, right)) return;
  Block* left = row_.Previous(*block);
  if (left != nullptr) Join(left, block);
}

// Makes one block of two neighbours, if it has room; it keeps the id of the left one. Not across
// the border of two nodes: there the keys of the right one would pass to the block behind it.
bool BlockSkipList::Join(Block* left, Block* right) {
  if (!MayJoin(*left, *right)) return false;
  MemberBuffer buffer;
  const Levels::Path path = levels_.Find(right->CodeAt(0), right->MemberAt(0, buffer));
  Block* joined = path.IsFirstOfNode() ? nullptr : Joined(*left, *right);
  if (joined == nullptr) return false;

  Settle(left->id);
  Settle(right->id);
  const size_t span = right->count();
  levels_.Add(path, -static_cast<ptrdiff_t>(span));
  levels_.Remove(path);
  levels_.Add(levels_.Find(left->CodeAt(0), left->MemberAt(0, buffer)), span);
  Rename(*right, 0, span, right->id, left->id);

  row_.Remove(right);
  joined->TakePlaceOf(*left);
  row_.Replace(joined, left->allocated_bytes());
  Block::Free(left);
  return true;
}

Block* BlockSkipList::ReleaseIfSmall() {
  return row_.count() == 1 && size() <= kSmallAgain ? row_.ReleaseOnly() : nullptr;
}

void BlockSkipList::Check() const {
  levels_.Check();
  [[maybe_unused]] size_t rank = 0, blocks = 0;
  [[maybe_unused]] uint32_t previous = BlockRow::kNone;
  for (const Block* block = row_.First(); block; block = row_.Next(*block)) {
    assert(block->previous == previous && block->tagged() && block->count() > 0);
    previous = block->id;
    ++blocks;
    MemberBuffer buffer;
    for (size_t i = 0; i < block->count(); ++i, ++rank) {
      [[maybe_unused]] const BlockItem item = block->ItemAt(i, buffer);
      assert(CountBefore(item.code, item.member) == rank);
      assert(Find(item.member).block == block && Find(item.member).index == i);
      assert(index_.Find(KeyedHash(item.member),
                         [&](uint32_t id) { return id == renamings_.NameOf(block->id, i); }));
    }
  }
  assert(rank == size() && blocks == row_.count());
  CheckRenamings();
  assert(cut_ids_.in_round.empty() ? index_.size() == rank : index_.size() >= rank);
}

}  // namespace zsetd
