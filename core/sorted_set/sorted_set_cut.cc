// Taking out the elements of a range of ranks, and what of them is better freed elsewhere.

#include <algorithm>

#include "core/sorted_set/skip_list/block_skip_list.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd {
namespace {

constexpr size_t kSoonFreed = 2000;  // elements, in ten microseconds or so

}  // namespace

size_t SortedSet::Remove(RankRange ranks) {
  ranks.last = std::min(ranks.last, size());
  CutInside(ranks);
  return ranks.size();
}

std::shared_ptr<void> SortedSet::Cut(RankRange ranks) {
  ranks.last = std::min(ranks.last, size());
  return CutInside(ranks);
}

// The range does not go beyond the set.
std::shared_ptr<void> SortedSet::CutInside(RankRange ranks) {
  if (ranks.empty()) return nullptr;
  ++revision_;
  if (!list()) {
    EraseFromOnly(ranks.first, ranks.last);
    return nullptr;
  }
  if (ranks.size() < list()->size()) {
    auto loose = list()->Erase(ranks);
    BecomeSmallAgain();
    return loose;
  }
  const bool soon_freed = ranks.size() <= kSoonFreed;
  std::shared_ptr<BlockSkipList> loose(soon_freed ? nullptr : contents_.ReleaseSecond());
  contents_.Reset();
  return loose;
}

}  // namespace zsetd
