// How the index hears that elements have gone to another block:
// core/sorted_set/skip_list/pending_moves.h.

#include <algorithm>
#include <array>
#include <cassert>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/block/block_reader.h"
#include "core/sorted_set/skip_list/block_skip_list.h"

namespace zsetd {

// Blocks are divided some sixty changes apart; eight or nine changes rename what one division gave
// away.
void BlockSkipList::RenameSome() {
  constexpr size_t kRenamedPerChange = 8;
  if (renamings_.empty()) return;
  Renamings::Renaming& renaming = renamings_.first();
  const Block& block = *row_.At(renaming.to);
  const size_t first = renaming.renamed;
  const size_t last = std::min(first + kRenamedPerChange, block.count());
  Rename(block, first, last, renaming.from, renaming.to);
  renaming.renamed = last;
  if (last == block.count()) renamings_.EndFirst();
}

void BlockSkipList::RenameRest(const Renamings::Renaming& renaming) {
  const Block& block = *row_.At(renaming.to);
  Rename(block, renaming.renamed, block.count(), renaming.from, renaming.to);
}

// Before a division: the elements it will give away must not be renamed until the index knows all
// of them.
void BlockSkipList::LeaveFewPending() {
  constexpr size_t kMostPending = 4;
  for (; renamings_.size() >= kMostPending; renamings_.EndFirst()) RenameRest(renamings_.first());
}

// Afterwards no element of the block has another's name, and no other its name.
void BlockSkipList::Settle(uint32_t block) {
  SettleWhere([&](const Renamings::Renaming& renaming) {
    return renaming.from == block || renaming.to == block;
  });
}

void BlockSkipList::SettleAll() {
  SettleWhere([](const Renamings::Renaming&) { return true; });
}

template <class Is>
void BlockSkipList::SettleWhere(Is is) {
  for (const Renamings::Renaming& renaming : renamings_) {
    if (is(renaming)) RenameRest(renaming);
  }
  renamings_.EndWhere(is);
}

// The elements of the block from `first` to before `last`.
void BlockSkipList::Rename(const Block& block, size_t first, size_t last, uint32_t from,
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

void BlockSkipList::CheckRenamings() const {
  for ([[maybe_unused]] const Renamings::Renaming& renaming : renamings_) {
    assert(row_.Find(renaming.from) != nullptr && row_.Find(renaming.to) != nullptr);
    assert(renaming.renamed <= row_.At(renaming.to)->count());
    assert(!renamings_.AnyOther(renaming.to, [](uint32_t) { return true; }));
  }
}

}  // namespace zsetd
