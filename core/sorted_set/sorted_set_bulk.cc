// Whole sets made of elements, of another set, of a part of one: packed block by block, in order.

#include <algorithm>
#include <string>
#include <vector>

#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/block/unpacked_block.h"
#include "core/sorted_set/skip_list/block_skip_list.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd {
namespace {

bool InOrder(const Element& a, const Element& b) {
  return a.score < b.score || (a.score == b.score && a.member < b.member);
}

}  // namespace

SortedSet SortedSet::Of(std::span<Element> elements) {
  for (Element& element : elements) element.score = WithoutNegativeZero(element.score);
  if (!std::is_sorted(elements.begin(), elements.end(), InOrder)) {
    std::sort(elements.begin(), elements.end(), InOrder);
  }
  SortedSet set;
  std::vector<BlockItem> items;
  while (!elements.empty()) {
    const auto some = elements.first(std::min(elements.size(), Block::kMaxCount));
    items.clear();
    for (const auto& [member, score] : some) {
      items.push_back({ScoreCode(score), member, MakeLarge(member)});
    }
    set.Append(items);
    elements = elements.subspan(some.size());
  }
  return set;
}

SortedSet SortedSet::Clone() const {
  SortedSet copy;
  ForEachBlock([&](const Block& block) {
    UnpackedBlock unpacked(block);
    for (BlockItem& item : unpacked.items()) item.large = MakeLarge(item.member);
    copy.Append(unpacked.items());
  });
  copy.longest_member_ = longest_member_;
  copy.encoding_ = encoding_;
  return copy;
}

SortedSet SortedSet::Copy(RankRange ranks) const {
  SortedSet copy;
  std::vector<std::string> members(std::min(ranks.size(), Block::kMaxCount));
  std::vector<BlockItem> items;
  Cursor at = At(ranks.first);
  for (size_t left = ranks.size(); left > 0; left -= items.size()) {
    items.clear();
    for (std::string& member : std::span(members).first(std::min(left, members.size()))) {
      member = at.element().member;
      items.push_back({at.reader_.code(), member, MakeLarge(member)});
      at.Next();
    }
    copy.Append(items);
  }
  return copy;
}

// Puts the items, with their LargeMembers, behind the last element. One block holds so many.
void SortedSet::Append(std::span<BlockItem> items) {
  revision_ += items.size();
  for (const BlockItem& item : items) NoteLength(item.member.size());
  if (only()) BecomeLarge();
  if (!list()) {
    const size_t packed = FittingOne(items);
    contents_.Reset(Block::Pack(items.first(packed), PlanBlock(items.first(packed), false)));
    items = items.subspan(packed);
    if (items.empty()) return;
    BecomeLarge();
  }
  list()->Append(items);
}

}  // namespace zsetd
