// Ways to visit elements: a cursor in order, a scan in none.

#include "core/sorted_set/skip_list/block_skip_list.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd {

SortedSet::Cursor SortedSet::At(size_t rank) const {
  if (list()) return rank < list()->size() ? Cursor(list(), list()->At(rank)) : Cursor();
  return only() && rank < only()->count() ? Cursor(nullptr, {only(), rank}) : Cursor();
}

const Block* SortedSet::BlockAfter(const Block& block) const {
  return list() ? list()->Next(block) : nullptr;
}

uint64_t SortedSet::Scan(uint64_t cursor, const std::function<void(const Element&)>& visit) const {
  if (list()) {
    return list()->Scan(cursor, [&](std::string_view member, uint64_t code) {
      visit({member, ScoreOf(code)});
    });
  }
  for (Cursor at = At(0); at.valid(); at.Next()) visit(at.element());
  return 0;
}

SortedSet::Cursor::Cursor(const BlockSkipList* list, const BlockPlace& place)
    : list_(list), reader_(*place.block, place.index), valid_(true) {}

void SortedSet::Cursor::NextBlock() {
  const Block* next = list_ ? list_->Next(*reader_.block()) : nullptr;
  valid_ = next != nullptr;
  if (valid_) reader_.Start(*next, 0);
}

void SortedSet::Cursor::PreviousBlock() {
  const Block* previous = list_ ? list_->Previous(*reader_.block()) : nullptr;
  valid_ = previous != nullptr;
  if (valid_) reader_.Start(*previous, previous->count() - 1);
}

}  // namespace zsetd
