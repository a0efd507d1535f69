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
#include "core/sorted_set/block/block_reader.h"
#include "core/sorted_set/block_run.h"
#include "core/sorted_set/skip_list/block_skip_list.h"

namespace zsetd {
namespace {

bool IsBeforeByScore(const Element& a, const Element& b) {
  return a.score < b.score || (a.score == b.score && a.member < b.member);
}

bool IsBeforeByCode(const Element& a, const Element& b) {
  const uint64_t a_code = ScoreCode(a.score), b_code = ScoreCode(b.score);
  return a_code < b_code || (a_code == b_code && a.member < b.member);
}

BlockItem ItemOf(const Element& element) {
  return {ScoreCode(element.score), element.member, MakeLarge(element.member)};
}

// Packs all elements in one block, as in a small set; null if they are too many.
Block* PackOne(std::span<const Element> elements) {
  if (elements.size() > Block::kMaxCount) return nullptr;
  std::vector<BlockItem> items;
  for (const Element& element : elements) items.push_back(ItemOf(element));
  if (Block* block = PackIfFitting(items, /*tagged=*/false)) return block;
  for (const BlockItem& item : items) LargeMember::Free(item.large);
  return nullptr;
}

bool HasMemberTwice(std::span<const Element> elements) {
  std::vector<std::pair<uint64_t, std::string_view>> hashed;
  for (const Element& element : elements) {
    hashed.emplace_back(KeyedHash(element.member), element.member);
  }
  std::sort(hashed.begin(), hashed.end());
  return std::adjacent_find(hashed.begin(), hashed.end()) != hashed.end();
}

}  // namespace

SortedSetBuilder::SortedSetBuilder(const ScoreForm& form)
    : form_(form), compares_codes_(!form.is_double()) {}

// A carried code has no other representation.
double SortedSetBuilder::Stored(double score) const {
  return compares_codes_ ? score : WithoutNegativeZero(score);
}

bool SortedSetBuilder::IsBefore(const Element& a, const Element& b) const {
  return compares_codes_ ? IsBeforeByCode(a, b) : IsBeforeByScore(a, b);
}

SortedSetBuilder::~SortedSetBuilder() = default;

void SortedSetBuilder::Add(std::string_view member, double score) {
  Prepare({member, Stored(score)});
  elements_.push_back({arena_.Keep(member), Stored(score)});
}

void SortedSetBuilder::AddView(std::string_view member, double score) {
  Prepare({member, Stored(score)});
  elements_.push_back({member, Stored(score)});
}

void SortedSetBuilder::Add(std::string_view member, double score, std::optional<Millis> deadline) {
  Add(member, score);
  if (deadline) deadlines_.emplace_back(member, *deadline);
}

// Called before an element is added. Packs the earlier elements if they fill a block. The last one
// is kept, to compare it with the new one.
void SortedSetBuilder::Prepare(const Element& next) {
  assert(compares_codes_ || !std::isnan(next.score));
  longest_ = std::max(longest_, next.member.size());
  if (++size_ == 1 || order_ == Order::kNone) return;
  const bool ascends = IsBefore(elements_.back(), next);
  const bool descends = !ascends && IsBefore(next, elements_.back());
  if (order_ == Order::kEither) {
    order_ = ascends ? Order::kAscending : descends ? Order::kDescending : Order::kNone;
  } else if (order_ == Order::kAscending ? !ascends : !descends) {
    order_ = Order::kNone;
    return TakeOutAgain();
  }
  if (elements_.size() > Block::kMaxCount) PackFirst();
}

// Packs the first elements into a block, or into several if a block takes few. The other elements,
// at least the last one, are copied to new memory, so that the old memory can be reused.
void SortedSetBuilder::PackFirst() {
  if (packed_ == nullptr) {
    packed_ = std::make_unique<BlockRun>(order_ == Order::kAscending ? BlockSide::kFirst
                                                                     : BlockSide::kLast);
  }
  const std::span<const Element> all_but_last(elements_.data(), elements_.size() - 1);
  size_t packed = 0;
  while (elements_.size() - packed > Block::kMaxCount / 2) {
    packed += packed_->Pack(all_but_last.subspan(packed));
  }
  elements_.erase(elements_.begin(), elements_.begin() + packed);
  for (Element& element : elements_) element.member = spare_.Keep(element.member);
  std::swap(arena_, spare_);
  spare_.Clear();
}

// Unpacks the elements of the packed blocks again, because an element arrived that is not in order.
void SortedSetBuilder::TakeOutAgain() {
  const std::unique_ptr<BlockRun> packed = std::exchange(packed_, nullptr);
  if (packed == nullptr) return;
  for (const Block* block : packed->blocks()) {
    BlockReader reader(*block, 0);
    for (size_t left = block->count(); left > 0; --left) {
      elements_.push_back({arena_.Keep(reader.member()), ScoreOf(reader.code())});
      if (left > 1) reader.Forward();
    }
  }
}

// Sorts the elements. Returns false if two are equal.
bool SortedSetBuilder::Sort() {
  if (compares_codes_) {
    std::sort(elements_.begin(), elements_.end(), IsBeforeByCode);
  } else {
    std::sort(elements_.begin(), elements_.end(), IsBeforeByScore);
  }
  const auto is_twice = [this](const Element& a, const Element& b) { return !IsBefore(a, b); };
  return std::adjacent_find(elements_.begin(), elements_.end(), is_twice) == elements_.end();
}

std::optional<SortedSet> SortedSetBuilder::Build() {
  std::optional<SortedSet> set = BuildWithoutDeadlines();
  if (!set) return std::nullopt;
  for (const auto& [member, deadline] : deadlines_) set->SetDeadline(member, deadline);
  for (const auto& [member, payload] : payloads_) set->SetPayload(member, payload);
  return set;
}

std::optional<SortedSet> SortedSetBuilder::BuildWithoutDeadlines() {
  SortedSet set;
  if (compares_codes_ && !set.SetForm(form_)) return std::nullopt;
  if (size_ == 0) return set;
  if (order_ == Order::kNone && !Sort()) return std::nullopt;
  if (order_ == Order::kDescending && packed_ == nullptr) {
    std::reverse(elements_.begin(), elements_.end());
  }
  if (Block* block = packed_ == nullptr ? PackOne(elements_) : nullptr) {
    set.Adopt(block, longest_);
    if (HasMemberTwice(elements_)) return std::nullopt;
    return set;
  }
  if (packed_ == nullptr) packed_ = std::make_unique<BlockRun>(BlockSide::kFirst);
  std::span<const Element> left = elements_;
  while (!left.empty()) left = left.subspan(packed_->Pack(left));
  std::unique_ptr<BlockSkipList> list = packed_->Build();
  if (list == nullptr) return std::nullopt;
  set.Adopt(std::move(list), longest_);
  return set;
}

}  // namespace zsetd
