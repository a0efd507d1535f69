#include "core/sorted_set/sorted_set_builder.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/skip_list/block_skip_list.h"

namespace zsetd {
namespace {

bool IsBefore(const Element& a, const Element& b) {
  return a.score < b.score || (a.score == b.score && a.member < b.member);
}

bool IsBehind(const Element& a, const Element& b) { return IsBefore(b, a); }

// Whether each pair of neighbours is as `is_ordered` says.
template <class IsOrdered>
bool AllNeighbours(std::span<const Element> elements, IsOrdered is_ordered) {
  const auto breaks = [&](const Element& a, const Element& b) { return !is_ordered(a, b); };
  return std::adjacent_find(elements.begin(), elements.end(), breaks) == elements.end();
}

BlockItem ItemOf(const Element& element) {
  return {ScoreCode(element.score), element.member, MakeLarge(element.member)};
}

// All elements in one block, as a small set has them; null if they are too many.
Block* PackOne(std::span<const Element> elements) {
  if (elements.size() > Block::kMaxCount) return nullptr;
  std::vector<BlockItem> items;
  for (const Element& element : elements) items.push_back(ItemOf(element));
  if (Block* block = PackIfFitting(items, /*tagged=*/false)) return block;
  for (const BlockItem& item : items) LargeMember::Free(item.large);
  return nullptr;
}

// Packs elements that come in order into full blocks.
class BlockRun {
 public:
  void Add(const Element& element) {
    items_.push_back(ItemOf(element));
    hashes_.push_back(KeyedHash(element.member));
    items_.back().tag = MemberIndex::TagOf(hashes_.back());
    if (items_.size() == Block::kMaxCount) PackFirst();
  }

  // The list of everything added, or null if a member was added twice.
  std::unique_ptr<BlockSkipList> Build() {
    while (!items_.empty()) PackFirst();
    return BlockSkipList::Make(blocks_, hashes_);
  }

 private:
  void PackFirst() {
    blocks_.push_back(PackFull(items_));
    items_.erase(items_.begin(), items_.begin() + blocks_.back()->count());
  }

  std::vector<BlockItem> items_;  // no more than one block takes
  std::vector<Block*> blocks_;
  std::vector<uint64_t> hashes_;
};

bool HasMemberTwice(std::span<const Element> elements) {
  std::vector<std::pair<uint64_t, std::string_view>> hashed;
  for (const Element& element : elements) {
    hashed.emplace_back(KeyedHash(element.member), element.member);
  }
  std::sort(hashed.begin(), hashed.end());
  return std::adjacent_find(hashed.begin(), hashed.end()) != hashed.end();
}

}  // namespace

void SortedSetBuilder::AddView(std::string_view member, double score) {
  assert(!std::isnan(score));
  assert(!std::isnan(score));
  elements_.push_back({member, WithoutNegativeZero(score)});
}

// False if two elements are equal.
bool SortedSetBuilder::PutInOrder() {
  if (AllNeighbours(elements_, IsBefore)) return true;
  if (AllNeighbours(elements_, IsBehind)) {
    std::reverse(elements_.begin(), elements_.end());
    return true;
  }
  std::sort(elements_.begin(), elements_.end(), IsBefore);
  return AllNeighbours(elements_, IsBefore);
}

void SortedSetBuilder::Add(std::string_view member, double score, std::optional<Millis> deadline) {
  const std::string_view kept = arena_.Keep(member);
  AddView(kept, score);
  if (deadline) deadlines_.emplace_back(kept, *deadline);
}

std::optional<SortedSet> SortedSetBuilder::Build() {
  std::optional<SortedSet> set = BuildWithoutDeadlines();
  if (!set) return std::nullopt;
  for (const auto& [member, deadline] : deadlines_) set->SetDeadline(member, deadline);
  return set;
}

std::optional<SortedSet> SortedSetBuilder::BuildWithoutDeadlines() {
  if (!PutInOrder()) return std::nullopt;
  SortedSet set;
  if (elements_.empty()) return set;
  size_t longest = 0;
  for (const Element& element : elements_) longest = std::max(longest, element.member.size());

  if (Block* block = PackOne(elements_)) {
    set.Adopt(block, longest);
    if (HasMemberTwice(elements_)) return std::nullopt;
    return set;
  }
  BlockRun run;
  for (const Element& element : elements_) run.Add(element);
  std::unique_ptr<BlockSkipList> list = run.Build();
  if (list == nullptr) return std::nullopt;
  set.Adopt(std::move(list), longest);
  return set;
}

}  // namespace zsetd
