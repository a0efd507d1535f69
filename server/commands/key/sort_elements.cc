#include "server/commands/key/sort_elements.h"

namespace zsetd {

bool IsSortable(const Entry& entry) {
  return entry.Holds<List>() || entry.Holds<Set>() || entry.Holds<SortedSet>();
}

// Unsorted, DESC turns the order around, but that of a set, which has no direction.
SortElements::SortElements(const Entry* entry, const SortRequest& request) {
  const auto range_of = [&](size_t size) {
    return request.sorts ? RankRange{.first = 0, .last = size} : request.Within(size);
  };
  if (entry == nullptr) return;
  const bool reversed = !request.sorts && request.descending;
  if (const List* list = entry->GetIf<List>()) Load(*list, range_of(list->size()), reversed);
  if (const Set* set = entry->GetIf<Set>()) Load(*set, range_of(set->size()));
  if (const SortedSet* set = entry->GetIf<SortedSet>()) {
    Load(*set, range_of(set->size()), reversed);
  }
}

void SortElements::Load(const List& list, RankRange range, bool reversed) {
  if (range.empty()) return;
  views_.reserve(range.size());
  auto at = list.CursorAt(reversed ? list.size() - 1 - range.first : range.first);
  for (size_t left = range.size(); left > 0; --left) {
    views_.push_back(at.element());
    reversed ? at.Previous() : at.Next();
  }
}

void SortElements::Load(const Set& set, RankRange range) {
  views_.reserve(range.size());
  size_t place = 0;
  set.ForEach([&](std::string_view member) {
    if (place >= range.first && place < range.last) views_.push_back(member);
    ++place;
  });
}

void SortElements::Load(const SortedSet& set, RankRange range, bool reversed) {
  if (range.empty()) return;
  copies_.reserve(range.size());
  auto at = set.At(reversed ? set.size() - 1 - range.first : range.first);
  for (size_t left = range.size(); left > 0; --left) {
    copies_.emplace_back(at.element().member);
    reversed ? at.Previous() : at.Next();
  }
  views_.assign(copies_.begin(), copies_.end());
}

}  // namespace zsetd
