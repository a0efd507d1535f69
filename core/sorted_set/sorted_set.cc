#include "core/sorted_set/sorted_set.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/block/block_builder.h"
#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/skip_list/block_skip_list.h"
#include "core/sorted_set/sorted_set_builder.h"
#include "core/util/allocation.h"
#include "core/util/cache_line.h"

namespace zsetd {
namespace {

// The result of adding `given` under `rule` to the element at `place`, if it exists.
AddResult Decide(const BlockPlace& place, double given, const AddRule& rule) {
  using Kind = AddResult::Kind;
  if (!place) return {rule.only_existing ? Kind::kRefused : Kind::kAdded, given};
  const double current = ScoreOf(place.code());
  if (rule.only_new) return {Kind::kRefused, current};
  const double score = rule.increment ? current + given : given;
  if (std::isnan(score)) return {Kind::kNotANumber, current};
  if (rule.only_greater && score <= current) return {Kind::kRefused, current};
  if (rule.only_less && score >= current) return {Kind::kRefused, current};
  return {score == current ? Kind::kUnchanged : Kind::kUpdated, score};
}

// The first code of the range, and the first code after it.
uint64_t FirstCode(const ScoreBound& min) {
  return ScoreCode(WithoutNegativeZero(min.score)) + (min.exclusive ? 1 : 0);
}
uint64_t EndCode(const ScoreBound& max) {
  return ScoreCode(WithoutNegativeZero(max.score)) + (max.exclusive ? 0 : 1);
}

// The least member after `member`; the least member of a range; the least member after a range.
std::string Behind(std::string_view member) { return std::string(member) + '\0'; }
std::string FirstMember(const LexBound& min) {
  return min.exclusive ? Behind(min.member) : std::string(min.member);
}
std::string EndMember(const LexBound& max) {
  return max.exclusive ? std::string(max.member) : Behind(max.member);
}

// The deadline in the form that blocks store.
uint64_t PackedDeadline(std::optional<Millis> deadline) {
  if (!deadline) return kNoDeadline;
  constexpr auto kMost = static_cast<int64_t>(kMostDeadline);
  return static_cast<uint64_t>(std::clamp<int64_t>(deadline->count(), 1, kMost));
}

std::optional<Millis> DeadlineOf(uint64_t packed) {
  if (packed == kNoDeadline) return std::nullopt;
  return Millis(static_cast<int64_t>(packed));
}

// Removes due elements of one block of the set, until `removed` has `end` members. Starts with the
// last run of due elements, so that the ranks of earlier runs do not change.
void RemoveDueIn(SortedSet& set, const Block& block, uint64_t last, size_t end,
                 std::vector<std::string>& removed) {
  MemberBuffer buffer;
  const size_t first = *set.Rank(block.MemberAt(0, buffer));
  std::vector<RankRange> runs;
  for (size_t i = 0; i < block.count() && removed.size() < end; ++i) {
    if (block.DeadlineAt(i) > last) continue;
    removed.emplace_back(block.MemberAt(i, buffer));
    const size_t rank = first + i;
    if (runs.empty() || runs.back().last < rank) runs.push_back({rank, rank});
    runs.back().last = rank + 1;
  }
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) set.Remove(*run);
}

constexpr size_t kSoonFreed = 2000;  // elements, which take about ten microseconds

}  // namespace

void SortedSet::FreeBlock::operator()(Block* block) const {
  block->FreeLargeMembers();
  Block::Free(block);
}

static_assert(sizeof(SortedSet) == 16);
SortedSet::SortedSet() = default;

SortedSet::SortedSet(SortedSet&& other) noexcept
    : contents_(std::move(other.contents_)),
      revision_(other.revision_),
      longest_member_(other.longest_member_),
      form_(other.form_),
      is_skiplist_(other.is_skiplist_) {
  other.form_ = ScoreFormTable::kDouble;
}

SortedSet& SortedSet::operator=(SortedSet&& other) noexcept {
  contents_ = std::move(other.contents_);
  revision_ = other.revision_;
  longest_member_ = other.longest_member_;
  is_skiplist_ = other.is_skiplist_;
  const uint16_t form = other.form_;
  other.form_ = ScoreFormTable::kDouble;
  ReleaseForm();
  form_ = form & ScoreFormTable::kMostForms;
  return *this;
}

SortedSet::~SortedSet() { ReleaseForm(); }

void SortedSet::ReleaseForm() {
  if (form_ != ScoreFormTable::kDouble) [[unlikely]]
    ScoreFormTable::Release(form_);
}

bool SortedSet::SetForm(const ScoreForm& form) {
  assert(empty() && !has_form());
  const uint16_t number = ScoreFormTable::Take(form);
  form_ = number & ScoreFormTable::kMostForms;
  return has_form() || form.is_double();
}

SortedSet SortedSet::Clone() const {
  SortedSet copy;
  if (only()) copy.contents_.Reset(BlockBuilder::Clone(*only()));
  if (list()) copy.contents_.Reset(list()->Clone().release());
  copy.revision_ = revision_;
  copy.longest_member_ = longest_member_;
  copy.is_skiplist_ = is_skiplist_;
  ScoreFormTable::Share(form_);
  copy.form_ = form_;
  return copy;
}

SortedSet SortedSet::Copy(RankRange ranks) const {
  assert(ranks.empty() || ranks.last <= size());
  assert(ranks.first <= ranks.last && ranks.last <= size());
  SortedSetBuilder builder(form());
  Cursor at = At(ranks.first);
  for (size_t left = ranks.size(); left > 0; --left, at.Next()) {
    builder.Add(at.member(), at.score());
  }
  return *builder.Build();
}

// Takes over the elements from a builder. Precondition: the set is empty.
void SortedSet::Adopt(Block* only, size_t longest_member) {
  contents_.Reset(only);
  ++revision_;
  NoteLength(longest_member);
}

void SortedSet::Adopt(std::unique_ptr<BlockSkipList> list, size_t longest_member) {
  contents_.Reset(list.release());
  ++revision_;
  NoteLength(longest_member);
}

size_t SortedSet::size() const { return list() ? list()->size() : only() ? only()->count() : 0; }

size_t SortedSet::BytesUsed() const {
  if (list()) return AllocatedBytes(list()) + list()->BytesUsed();
  return only() ? only()->allocated_bytes() + only()->LargeMemberBytes() : 0;
}

AddResult SortedSet::Add(std::string_view member, double score, const AddRule& rule) {
  assert(!has_form() && !std::isnan(score));
  if (!list()) {
    const BlockPlace place = Find(member);
    return AddOrMove(
        place, member, score, rule,
        [&](uint64_t code) {
          InsertIntoOnly({code, member, MakeLarge(member), TagFor(member)});
        },
        [&](uint64_t code) { MoveInOnly(place, member, code); });
  }
  // The spot of a member that is incremented depends on its score, which is found first.
  using Spot = BlockSkipList::Spot;
  const Spot spot = rule.increment ? Spot{.code = 0, .hash = KeyedHash(member), .path = {}}
                                   : list()->SpotFor(ScoreCode(WithoutNegativeZero(score)), member);
  const BlockPlace place = list()->Find(member, spot.hash);
  return AddOrMove(
      place, member, score, rule,
      [&](uint64_t code) {
        const BlockItem item = {code, member, MakeLarge(member), MemberIndex::TagOf(spot.hash)};
        spot.path ? list()->Insert(spot, item) : list()->Insert(item);
      },
      [&](uint64_t code) {
        assert(!spot.path || spot.code == code);
        spot.path ? list()->Move(place, spot, member)
                  : list()->Move(place, {.code = code, .hash = spot.hash, .path = {}}, member);
        BecomeSmallAgain();
      });
}

// `place` is the position of the member, if it exists, and move_to(code) changes its score;
// otherwise insert(code) adds it.
template <class Insert, class MoveTo>
AddResult SortedSet::AddOrMove(const BlockPlace& place, std::string_view member, double score,
                               const AddRule& rule, Insert insert, MoveTo move_to) {
  using Kind = AddResult::Kind;
  AddResult result = Decide(place, score, rule);
  if (place && has_deadlines()) [[unlikely]] {
    result.score = WithoutNegativeZero(result.score);
    return MoveWithDeadline(place, member, ScoreCode(result.score), result,
                            rule.increment || rule.keep_deadline, move_to);
  }
  if (result.kind > Kind::kUpdated) return result;

  ++revision_;
  result.score = WithoutNegativeZero(result.score);
  const uint64_t code = ScoreCode(result.score);
  if (result.kind == Kind::kUpdated) {
    move_to(code);
  } else {
    NoteLength(member.size());
    insert(code);
  }
  return result;
}

// Moves an existing member of a set with deadlines and keeps its deadline if required. The new
// place has none at first.
template <class MoveTo>
AddResult SortedSet::MoveWithDeadline(const BlockPlace& place, std::string_view member,
                                      uint64_t code, AddResult result, bool keeps_deadline,
                                      MoveTo move_to) {
  using Kind = AddResult::Kind;
  if (result.kind > Kind::kUnchanged) return result;
  const uint64_t before = place.block->DeadlineAt(place.index);
  const uint64_t after = keeps_deadline ? before : kNoDeadline;
  if (result.kind == Kind::kUnchanged && before == after) return result;

  ++revision_;
  if (result.kind == Kind::kUpdated) move_to(code);
  if (before != kNoDeadline) SetDeadline(Find(member), after);
  return result;
}

AddResult SortedSet::Place(std::string_view member, uint64_t code, bool keeps_deadline) {
  assert(has_form());
  using Kind = AddResult::Kind;
  const BlockPlace place = Find(member);
  AddResult result = {.kind = Kind::kAdded, .score = ScoreOf(code)};
  const auto move_to = [&](uint64_t to) {
    if (!list()) return MoveInOnly(place, member, to);
    list()->Move(place, {.code = to, .hash = KeyedHash(member), .path = {}}, member);
    BecomeSmallAgain();
  };
  if (place) {
    result.kind = place.code() == code ? Kind::kUnchanged : Kind::kUpdated;
    if (has_deadlines()) {
      return MoveWithDeadline(place, member, code, result, keeps_deadline, move_to);
    }
    if (result.kind == Kind::kUnchanged) return result;
    ++revision_;
    move_to(code);
    return result;
  }
  ++revision_;
  NoteLength(member.size());
  if (list()) {
    list()->Insert({code, member, MakeLarge(member), MemberIndex::TagOf(KeyedHash(member))});
  } else {
    InsertIntoOnly({code, member, MakeLarge(member), TagFor(member)});
  }
  return result;
}

void SortedSet::SetDeadline(const BlockPlace& place, uint64_t deadline) {
  if (list()) return list()->SetDeadline(place, deadline);
  Block* changed = SetDeadlineOrGrow(contents_.ReleaseFirst(), place.index, deadline);
  contents_.Reset(changed);
}

bool SortedSet::has_deadlines() const {
  return list() ? list()->has_deadlines() : only() != nullptr && only()->has_deadlines();
}

std::optional<Millis> SortedSet::EarliestDeadline() const {
  if (list()) return DeadlineOf(list()->EarliestDeadline());
  return only() ? DeadlineOf(only()->EarliestDeadline()) : std::nullopt;
}

std::optional<Millis> SortedSet::Deadline(std::string_view member) const {
  if (!has_deadlines()) return std::nullopt;
  const BlockPlace place = Find(member);
  return place ? DeadlineOf(place.block->DeadlineAt(place.index)) : std::nullopt;
}

bool SortedSet::SetDeadline(std::string_view member, std::optional<Millis> deadline) {
  const BlockPlace place = Find(member);
  const uint64_t packed = PackedDeadline(deadline);
  if (!place || place.block->DeadlineAt(place.index) == packed) return false;
  ++revision_;
  SetDeadline(place, packed);
  return true;
}

bool SortedSet::HasPayloads() const {
  if (list()) return list()->HasPayloads();
  return only() != nullptr && only()->has_payloads();
}

std::optional<std::string_view> SortedSet::Payload(std::string_view member) const {
  const BlockPlace place = Find(member);
  return place ? place.block->PayloadAt(place.index).view() : std::nullopt;
}

bool SortedSet::SetPayload(std::string_view member, std::optional<std::string_view> payload) {
  const BlockPlace place = Find(member);
  if (!place || place.block->PayloadAt(place.index).view() == payload) return false;
  ++revision_;
  SetPayload(place, member, PackedPayload::Make(payload));
  return true;
}

// An only block with one element has room for any payload.
void SortedSet::SetPayload(const BlockPlace& place, std::string_view member,
                           const PackedPayload& payload) {
  if (list()) return list()->SetPayload(place, member, payload);
  LargeMember* const old = only()->PayloadAt(place.index).large();
  const uint64_t deadline = only()->DeadlineAt(place.index);
  Block* const only_before = contents_.ReleaseFirst();
  Block* const set = SetPayloadOrGrow(only_before, place.index, payload);
  contents_.Reset(set != nullptr ? set : only_before);
  if (set == nullptr) {
    BlockItem item = {place.code(), member, only()->LargeAt(place.index), TagFor(member)};
    item.set_payload(payload);
    MoveInOnly(place, item);
    if (deadline != kNoDeadline) SetDeadline(Find(member), deadline);
  }
  if (old != nullptr) LargeMember::Free(old);
}

// A block in which an element has the earliest deadline; null if none has one.
const Block* SortedSet::EarliestBlock() const {
  if (!has_deadlines()) return nullptr;
  return list() ? &list()->EarliestBlock() : only();
}

void SortedSet::RemoveDue(Millis now, size_t most, std::vector<std::string>& removed) {
  if (now < Millis(0)) return;
  const auto last = static_cast<uint64_t>(now.count());
  const size_t end = removed.size() + most;
  while (removed.size() < end) {
    const Block* block = EarliestBlock();
    if (block == nullptr || block->EarliestDeadline() > last) return;
    RemoveDueIn(*this, *block, last, end, removed);
  }
}

void SortedSet::NoteLength(size_t member_bytes) {
  constexpr size_t kMost = std::numeric_limits<uint16_t>::max();
  longest_member_ = std::max<size_t>(longest_member_, std::min(member_bytes, kMost));
}

void SortedSet::Expect(size_t members, size_t member_bytes, const SortedSetLimits& limits) {
  const bool fits = members <= limits.listpack_entries && member_bytes <= limits.listpack_value;
  if (!fits) is_skiplist_ = 1;
}

// The tag of the member in the only block, or 0 if the block is not tagged. A block is tagged only
// if the set was large before.
uint8_t SortedSet::TagFor(std::string_view member) const {
  return only() && only()->tagged() ? MemberIndex::TagOf(KeyedHash(member)) : 0;
}

void SortedSet::InsertIntoOnly(const BlockItem& item) {
  if (!only()) {
    contents_.Reset(BlockBuilder::Pack({&item, 1}, PlanBlock({&item, 1}, false)));
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

void SortedSet::MoveInOnly(const BlockPlace& place, std::string_view member, uint64_t code) {
  BlockItem item = {code, member, only()->LargeAt(place.index), TagFor(member)};
  if (only()->has_payloads()) [[unlikely]] {
    const KeptPayload kept(only()->PayloadAt(place.index));
    item.set_payload(kept.get());
    return MoveInOnly(place, item);
  }
  MoveInOnly(place, item);
}

// Replaces the element by the item with the same member. The item's bytes are not in the block.
void SortedSet::MoveInOnly(const BlockPlace& place, const BlockItem& item) {
  if (only()->count() == 1) {
    Block* packed = BlockBuilder::Pack({&item, 1}, PlanBlock({&item, 1}, only()->tagged()));
    Block::Free(contents_.ReleaseFirst());  // without its LargeMembers, which moved
    contents_.Reset(packed);
    return;
  }
  only()->Erase(place.index, place.index + 1);
  InsertIntoOnly(item);
}

bool SortedSet::Remove(std::string_view member) {
  const BlockPlace place = Find(member);
  if (!place) return false;
  ++revision_;
  if (list()) {
    list()->Erase(place, member);
    BecomeSmallAgain();
  } else {
    EraseFromOnly(place.index, place.index + 1);
  }
  return true;
}

void SortedSet::EraseFromOnly(size_t first, size_t last) {
  if (last - first == only()->count()) return contents_.Reset();
  only()->ForEachLarge(first, last, LargeMember::Free);
  contents_.Reset(EraseAndShrink(contents_.ReleaseFirst(), first, last));
}

void SortedSet::BecomeLarge() { contents_.Reset(new BlockSkipList(contents_.ReleaseFirst())); }

void SortedSet::BecomeSmallAgain() {
  Block* block = list()->ReleaseIfSmall();
  if (block == nullptr) return;
  contents_.Reset(block);
}

BlockPlace SortedSet::Find(std::string_view member) const {
  if (list()) return list()->Find(member);
  if (!only()) return {};
  const size_t index = only()->Find(member, TagFor(member));
  return index < only()->count() ? BlockPlace{only(), index} : BlockPlace();
}

size_t SortedSet::RankOf(const BlockPlace& place, std::string_view member) const {
  return list() ? list()->RankOf(place, member) : place.index;
}

void SortedSet::Prefetch(uint64_t hash, PrefetchStep step) const {
  if (list()) return list()->Prefetch(hash, step);
  if (only() && step == PrefetchStep::kIndex) only()->Prefetch();
}

// The block of a small set has a few cache lines; most operations read nearly all of them.
void SortedSet::PrefetchStart() const {
  constexpr size_t kLines = 4;
  if (list()) PrefetchLine(list());
  if (only()) FetchLines(only(), kLines);
}

void SortedSet::Check() const {
  if (list()) list()->Check();
  if (!only()) return;
  assert(only()->count() > 0);
  MemberBuffer buffer;
  for (size_t i = 0; i < only()->count(); ++i) {
    [[maybe_unused]] const BlockItem item = only()->ItemAt(i, buffer);
    assert(only()->LowerBound(item.code, item.member) == i);
    assert(only()->Find(item.member, TagFor(item.member)) == i);
  }
}

std::unique_ptr<SortedSetSnapshot> SortedSet::StartSnapshot() const {
  return list() ? list()->StartSnapshot() : nullptr;
}

size_t SortedSet::CountBefore(uint64_t code, std::string_view member) const {
  if (list()) return list()->CountBefore(code, member);
  return only() ? only()->LowerBound(code, member) : 0;
}

RankRange SortedSet::Ranks(const ScoreRange& range) const {
  if (range.empty()) return {};
  return {CountBefore(FirstCode(range.min), {}), CountBefore(EndCode(range.max), {})};
}

RankRange SortedSet::Ranks(const CodeRange& range) const {
  if (range.is_empty || range.first > range.last) return {};
  const size_t end = range.last == CodeRange::kMost ? size() : CountBefore(range.last + 1, {});
  return {CountBefore(range.first, {}), end};
}

// If all scores are equal, searches by score and member. Otherwise does a binary search by members
// alone, like Redis, which works if the members are in order, too.
size_t SortedSet::CountBefore(std::string_view member) const {
  const uint64_t code = ScoreCode(At(0).score());
  if (ScoreCode(At(size() - 1).score()) == code) return CountBefore(code, member);
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

std::optional<Millis> SortedSet::Cursor::deadline() const {
  return DeadlineOf(reader_.block()->DeadlineAt(reader_.index()));
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

size_t SortedSet::Remove(RankRange ranks) {
  ranks.last = std::min(ranks.last, size());
  CutInside(ranks);
  return ranks.size();
}

std::shared_ptr<void> SortedSet::Cut(RankRange ranks) {
  ranks.last = std::min(ranks.last, size());
  return CutInside(ranks);
}

// Precondition: the range lies inside the set.
std::shared_ptr<void> SortedSet::CutInside(RankRange ranks) {
  if (ranks.empty()) return nullptr;
  revision_ += ranks.size();
  if (!list()) {
    EraseFromOnly(ranks.first, ranks.last);
    return nullptr;
  }
  if (ranks.size() < list()->size()) {
    auto detached = list()->Erase(ranks);
    BecomeSmallAgain();
    return detached;
  }
  const bool soon_freed = ranks.size() <= kSoonFreed;
  std::shared_ptr<BlockSkipList> detached(soon_freed ? nullptr : contents_.ReleaseSecond());
  contents_.Reset();
  return detached;
}

}  // namespace zsetd
