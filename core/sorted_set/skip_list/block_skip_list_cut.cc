// Erasing ranges. A short one goes block by block, each member out of the index; of a long one,
// whole blocks are cut out of levels and row, and the index is swept afterwards:
//
//   before   ..[a b c][d e f][g h i][j k l][m n o]..       erase c .. m
//   trim     ..[a b]  [d e f][g h i][j k l]  [n o]..       c and m, as if alone
//   cut      ..[a b]                         [n o]..       three ids to sweep for

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/skip_list/block_hashes.h"
#include "core/sorted_set/skip_list/block_skip_list.h"

namespace zsetd {
namespace {

constexpr size_t kLong = 16 * Block::kMaxCount;  // elements; a longer range is cut

// Sweeping keeps up with cutting: two buckets for each block cut out, but never so many that it
// takes longer than a millisecond.
constexpr size_t kSweptPerBlock = 2, kMostSwept = 2000;

}  // namespace

std::shared_ptr<LooseBlocks> BlockSkipList::Erase(RankRange ranks) {
  std::shared_ptr<LooseBlocks> loose;
  if (ranks.size() > kLong) {
    TrimToBlocks(ranks);
    loose = Cut(ranks);
  } else {
    EraseBlockByBlock(ranks);
  }
  JoinIfThin(row_.At(levels_.FindRank(std::min(ranks.first, size() - 1)).child));
  return loose;
}

void BlockSkipList::EraseBlockByBlock(RankRange ranks) {
  for (size_t left = ranks.size(); left > 0;) {
    const Levels::Path path = levels_.FindRank(ranks.first);
    const size_t first = ranks.first - path.before;
    const size_t last = std::min(row_.At(path.child)->count(), first + left);
    EraseSome(path, first, last);
    left -= last - first;
  }
}

// Erases what lies in blocks that the range does not cover. It covers others.
void BlockSkipList::TrimToBlocks(RankRange& ranks) {
  const Levels::Path front = levels_.FindRank(ranks.first);
  if (ranks.first > front.before) {
    const size_t first = ranks.first - front.before, count = row_.At(front.child)->count();
    EraseSome(front, first, count);
    ranks.last -= count - first;
  }
  const Levels::Path back = levels_.FindRank(ranks.last - 1);
  const size_t last = ranks.last - back.before;
  if (last < row_.At(back.child)->count()) {
    EraseSome(back, 0, last);
    ranks.last -= last;
  }
}

std::shared_ptr<LooseBlocks> BlockSkipList::Cut(RankRange ranks) {
  SettleAll();
  std::vector<uint32_t> ids;
  levels_.Cut(ranks.first, ranks.last, ids);
  auto loose = row_.Cut(ids);
  const size_t swept = std::min(kMostSwept, kSweptPerBlock * ids.size());
  if (cut_ids_.in_round.empty()) {
    cut_ids_.in_round = std::move(ids);
    index_.StartSweep();
  } else {
    cut_ids_.later.insert(cut_ids_.later.end(), ids.begin(), ids.end());
  }
  Sweep(swept);
  return loose;
}

// A part of what earlier changes have left to be done.
void BlockSkipList::Tidy() {
  RenameSome();
  Sweep(kSweptPerChange);
}

void BlockSkipList::Sweep(size_t buckets) {
  if (cut_ids_.in_round.empty()) return;
  if (index_.Sweep(buckets, BlockHashes(row_, renamings_))) return;
  row_.FreeIds(cut_ids_.in_round);
  cut_ids_.in_round = std::exchange(cut_ids_.later, {});
  index_.StartSweep();
}

}  // namespace zsetd
