#include "core/sorted_set.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/allocation.h"
#include "core/block_packing.h"
#include "core/block_skip_list.h"
#include "core/cache_line.h"
#include "core/keyed_hash.h"
#include "core/unpacked_block.h"

namespace zsetd {
namespace {

constexpr size_t kSoonFreed = 2000;  // elements, in ten microseconds or so

// What adding `given` under `rule` makes of an element whose score is `current`, if it exists.
AddResult Decide(std::optional<double> current, double given, const AddRule& rule) {
  using Kind = AddResult::Kind;
  if (!current) {
    return {rule.only_existing ? Kind::kRefused : Kind::kAdded, given};
  }
  if (rule.only_new) return {Kind::kRefused, *current};
  const double score = rule.increment ? *current + given : given;
  if (std::isnan(score)) return {Kind::kNotANumber, *current};
  if (rule.only_greater && score <= *current) return {Kind::kRefused, *current};
  if (rule.only_less && score >= *current) return {Kind::kRefused, *current};
  return {score == *current ? Kind::kUnchanged : Kind::kUpdated, score};
}

bool InOrder(const Element& a, const Element& b) {
  return a.score < b.score || (a.score == b.score && a.member < b.member);
}

// The code of the score once -0.0 is 0.0.
uint64_t CodeOf(double score) { return ScoreCode(score + 0.0); }

// The first code of the range, and the first behind it.
uint64_t FirstCode(const ScoreBound& min) { return CodeOf(min.score) + (min.exclusive ? 1 : 0); }
uint64_t EndCode(const ScoreBound& max) { return CodeOf(max.score) + (max.exclusive ? 0 : 1); }

// The least member behind all that lie below the bound, or behind all up to it.
std::string Behind(std::string_view member) { return std::string(member) + '\0'; }
std::string FirstMember(const LexBound& min) {
  return min.exclusive ? Behind(min.member) : std::string(min.member);
}
std::string EndMember(const LexBound& max) {
  return max.exclusive ? std::string(max.member) : Behind(max.member);
}

}  // namespace

void SortedSet::FreeBlock::operator()(Block* block) const {
  block->FreeLargeMembers();
  Block::Free(block);
}

static_assert(sizeof(SortedSet) == 16);
SortedSet::SortedSet() = default;
SortedSet::SortedSet(SortedSet&&) noexcept = default;
SortedSet& SortedSet::operator=(SortedSet&&) noexcept = default;
SortedSet::~SortedSet() = default;

SortedSet SortedSet::Of(std::span<Element> elements) {
  for (Element& element : elements) element.score += 0.0;  // makes 0.0 of -0.0
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

const Block* SortedSet::BlockAfter(const Block& block) const {
  return list() ? list()->Next(block) : nullptr;
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

// Puts the items, with their LargeMembers, behind the last element.
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
  for (BlockItem& item : items) item.tag = MemberIndex::TagOf(KeyedHash(item.member));
  list()->Append(items);
}

size_t SortedSet::size() const { return list() ? list()->size() : only() ? only()->count() : 0; }

size_t SortedSet::BytesUsed() const {
  if (list()) return AllocatedBytes(list()) + list()->BytesUsed();
  return only() ? only()->allocated_bytes() + only()->LargeMemberBytes() : 0;
}

AddResult SortedSet::Add(std::string_view member, double score, const AddRule& rule) {
  assert(!std::isnan(score));
  using Kind = AddResult::Kind;
  BlockSkipList::Spot spot;
  if (list()) spot = list()->SpotFor(CodeOf(score), member);
  const auto place = list() ? list()->Find(member, spot.hash) : Find(member);
  AddResult result =
      Decide(place ? std::optional(ScoreOf(place->code())) : std::nullopt, score, rule);
  if (result.kind > Kind::kUpdated) return result;

  ++revision_;
  result.score += 0.0;
  const uint64_t code = ScoreCode(result.score);
  if (result.kind == Kind::kUpdated) {
    Move(*place, member, code);
    return result;
  }
  NoteLength(member.size());
  const BlockItem item = {code, member, MakeLarge(member), TagFor(member)};
  list() ? list()->Insert(spot, item) : InsertIntoOnly(item);
  return result;
}

void SortedSet::NoteLength(size_t member_bytes) {
  constexpr size_t kMost = std::numeric_limits<uint16_t>::max();
  longest_member_ = std::max<size_t>(longest_member_, std::min(member_bytes, kMost));
}

void SortedSet::Expect(size_t members, size_t member_bytes, const SortedSetLimits& limits) {
  const bool fits = members <= limits.listpack_entries && member_bytes <= limits.listpack_value;
  if (!fits) encoding_ = SortedSetEncoding::kSkiplist;
}

// The tag under which the only block finds the member. Its first elements come without tags; they
// have them if the set was a large one.
uint8_t SortedSet::TagFor(std::string_view member) const {
  return only() && only()->tagged() ? MemberIndex::TagOf(KeyedHash(member)) : 0;
}

void SortedSet::InsertIntoOnly(const BlockItem& item) {
  if (!only()) {
    contents_.Reset(Block::Pack({&item, 1}, PlanBlock({&item, 1}, false)));
    return;
  }
  Block* grown = InsertOrGrow(only(), only()->LowerBound(item.code, item.member), item);
  if (grown != nullptr) {
    contents_.ReleaseFirst();
    contents_.Reset(grown);
  } else {
    BecomeLarge();
    list()->Insert(item);
  }
}

void SortedSet::Move(const BlockPlace& place, std::string_view member, uint64_t code) {
  if (list()) {
    list()->Move(place, code, member);
    BecomeSmallAgain();
    return;
  }
  const BlockItem item = {code, member, only()->LargeAt(place.index), TagFor(member)};
  if (only()->count() == 1) {
    Block* packed = Block::Pack({&item, 1}, PlanBlock({&item, 1}, only()->tagged()));
    Block::Free(contents_.ReleaseFirst());  // not its LargeMember, which has gone over
    contents_.Reset(packed);
    return;
  }
  only()->Erase(place.index, place.index + 1);
  InsertIntoOnly(item);
}

bool SortedSet::Remove(std::string_view member) {
  const auto place = Find(member);
  if (!place) return false;
  ++revision_;
  if (list()) {
    list()->Erase(*place, member);
    BecomeSmallAgain();
  } else {
    EraseFromOnly(place->index, place->index + 1);
  }
  return true;
}

size_t SortedSet::Remove(RankRange ranks) {
  const size_t before = size();
  Cut(ranks);
  return before - size();
}

std::shared_ptr<void> SortedSet::Cut(RankRange ranks) {
  ranks.last = std::min(ranks.last, size());
  if (ranks.empty()) return nullptr;
  ++revision_;
  if (ranks.size() == size()) {
    const bool soon_freed = ranks.size() <= kSoonFreed;
    std::shared_ptr<BlockSkipList> loose(soon_freed ? nullptr : contents_.ReleaseSecond());
    contents_.Reset();
    return loose;
  }
  if (!list()) {
    EraseFromOnly(ranks.first, ranks.last);
    return nullptr;
  }
  auto loose = list()->Erase(ranks);
  BecomeSmallAgain();
  return loose;
}

void SortedSet::EraseFromOnly(size_t first, size_t last) {
  if (last - first == only()->count()) return contents_.Reset();
  for (size_t i = first; i < last; ++i) {
    if (LargeMember* large = only()->LargeAt(i)) LargeMember::Free(large);
  }
  contents_.Reset(EraseAndShrink(contents_.ReleaseFirst(), first, last));
}

void SortedSet::BecomeLarge() { contents_.Reset(new BlockSkipList(contents_.ReleaseFirst())); }

void SortedSet::BecomeSmallAgain() {
  Block* block = list()->ReleaseIfSmall();
  if (block == nullptr) return;
  contents_.Reset(block);
}

std::optional<BlockPlace> SortedSet::Find(std::string_view member) const {
  if (list()) return list()->Find(member);
  const auto index = only() ? only()->Find(member, TagFor(member)) : std::nullopt;
  return index ? std::optional(BlockPlace{only(), *index}) : std::nullopt;
}

size_t SortedSet::CountBefore(uint64_t code, std::string_view member) const {
  if (list()) return list()->CountBefore(code, member);
  return only() ? only()->LowerBound(code, member) : 0;
}

std::optional<double> SortedSet::Score(std::string_view member) const {
  const auto place = Find(member);
  return place ? std::optional(ScoreOf(place->code())) : std::nullopt;
}

std::optional<size_t> SortedSet::Rank(std::string_view member) const {
  const auto place = Find(member);
  if (!place) return std::nullopt;
  return list() ? list()->RankOf(*place, member) : place->index;
}

void SortedSet::Prefetch(uint64_t hash, PrefetchStep step) const {
  if (list()) return list()->Prefetch(hash, step);
  if (only() && step == PrefetchStep::kIndex) only()->Prefetch();
}

// A small set's block has a few lines, most of which are read whatever is asked.
void SortedSet::PrefetchStart() const {
  constexpr size_t kLines = 4;
  if (list()) FetchLine(list());
  if (only()) FetchLines(only(), kLines);
}

RankRange SortedSet::Ranks(const ScoreRange& range) const {
  if (range.empty()) return {};
  return {CountBefore(FirstCode(range.min), {}), CountBefore(EndCode(range.max), {})};
}

// All scores being equal, the first one's tells where to look. Where they are not, Redis's search
// goes by the members all the same, which finds them as long as they too are in order.
size_t SortedSet::CountBefore(std::string_view member) const {
  const double score = At(0).element().score;
  if (At(size() - 1).element().score == score) return CountBefore(ScoreCode(score), member);
  size_t low = 0, high = size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    At(middle).element().member < member ? low = middle + 1 : high = middle;
  }
  return low;
}

RankRange SortedSet::Ranks(const LexRange& range) const {
  using Kind = LexBound::Kind;
  if (empty()) return {};
  const auto ranks_before = [&](const LexBound& bound, const std::string& member) {
    if (bound.kind != Kind::kMember) return bound.kind == Kind::kLowest ? 0 : size();
    return CountBefore(member);
  };
  return {ranks_before(range.min, FirstMember(range.min)),
          ranks_before(range.max, EndMember(range.max))};
}

SortedSet::Cursor SortedSet::At(size_t rank) const {
  if (rank >= size()) return Cursor();
  return Cursor(list(), list() ? list()->At(rank) : BlockPlace{only(), rank});
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
