#include "server/commands/zset/zset_cut.h"

#include <algorithm>
#include <cassert>

namespace zsetd {

void CutRanks(Edit<SortedSet>& set, RankRange ranks) {
  assert(ranks.last <= set->size());
  if (set.RecordsSubkeys()) {
    SortedSet::Cursor at = set->At(ranks.first);
    for (size_t left = ranks.size(); left > 0 && at.valid(); --left, at.Next()) {
      set.RecordSubkey(at.member());
    }
  }
  set.FreeLater(set->Cut(ranks));
}

}  // namespace zsetd
