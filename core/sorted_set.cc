#include "core/sorted_set.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <new>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "core/allocation.h"
#include "core/skip_list.h"

namespace zsetd {
namespace {

using Node = SkipList::Node;

// An allocator that keeps the sum of what it has handed out in a counter of its owner's.
template <class T>
struct CountingAllocator {
  using value_type = T;

  explicit CountingAllocator(size_t* counter) : bytes_used(counter) {}
  template <class U>
  CountingAllocator(const CountingAllocator<U>& other) : bytes_used(other.bytes_used) {}

  T* allocate(size_t count) {
    void* memory = ::operator new(count * sizeof(T));
    *bytes_used += AllocatedBytes(memory);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) {
    *bytes_used -= AllocatedBytes(memory);
    ::operator delete(memory);
  }
  bool operator==(const CountingAllocator&) const = default;

  size_t* bytes_used;
};

// std::string_view's own hash and equality: Debian's abseil would bring its own string_view.
using MemberIndex =
    absl::flat_hash_map<std::string_view, const Node*, std::hash<std::string_view>, std::equal_to<>,
                        CountingAllocator<std::pair<const std::string_view, const Node*>>>;

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

bool IsBelow(double score, const ScoreBound& min) {
  return score < min.score || (min.exclusive && score == min.score);
}

bool IsAbove(double score, const ScoreBound& max) {
  return score > max.score || (max.exclusive && score == max.score);
}

bool IsBelow(std::string_view member, const LexBound& min) {
  if (min.kind != LexBound::Kind::kMember) return min.kind == LexBound::Kind::kHighest;
  return member < min.member || (min.exclusive && member == min.member);
}

bool IsAbove(std::string_view member, const LexBound& max) {
  if (max.kind != LexBound::Kind::kMember) return max.kind == LexBound::Kind::kLowest;
  return member > max.member || (max.exclusive && member == max.member);
}

const Node* NodeOf(const void* node) { return static_cast<const Node*>(node); }

}  // namespace

struct SortedSet::Body {
  SkipList list;
  size_t index_bytes = 0;
  MemberIndex index{MemberIndex::allocator_type(&index_bytes)};
  size_t longest_member = 0;
  size_t largest_size = 0;
  uint32_t revision = 0;

  const Node* Find(std::string_view member) const {
    const auto found = index.find(member);
    return found == index.end() ? nullptr : found->second;
  }
  void Insert(std::string_view member, double score) {
    const Node* node = list.Insert(score, std::string(member));
    index.emplace(node->member(), node);
    longest_member = std::max(longest_member, member.size());
    largest_size = std::max(largest_size, list.size());
    ++revision;
  }
  void Remove(const Node* node) {
    index.erase(node->member());
    list.Remove(node);
    ++revision;
  }
};

SortedSet::SortedSet() : body_(std::make_unique<Body>()) {}
SortedSet::SortedSet(SortedSet&&) noexcept = default;
SortedSet& SortedSet::operator=(SortedSet&&) noexcept = default;
SortedSet::~SortedSet() = default;

SortedSet SortedSet::Of(std::span<Element> elements) {
  if (!std::is_sorted(elements.begin(), elements.end(), InOrder)) {
    std::sort(elements.begin(), elements.end(), InOrder);
  }
  SortedSet set;
  for (const Element& element : elements) set.Set(element.member, element.score);
  return set;
}

SortedSet SortedSet::Clone() const {
  SortedSet copy;
  for (Cursor at = At(0); at.valid(); at.Next()) {
    const Element element = at.element();
    copy.Set(element.member, element.score);
  }
  copy.body_->longest_member = longest_member();
  copy.body_->largest_size = largest_size();
  return copy;
}

size_t SortedSet::size() const { return body_->list.size(); }

uint32_t SortedSet::revision() const { return body_->revision; }

size_t SortedSet::longest_member() const { return body_->longest_member; }

size_t SortedSet::largest_size() const { return body_->largest_size; }

size_t SortedSet::BytesUsed() const {
  return AllocatedBytes(body_.get()) + body_->list.BytesUsed() + body_->index_bytes;
}

AddResult SortedSet::Add(std::string_view member, double score, const AddRule& rule) {
  assert(!std::isnan(score));
  const Node* node = body_->Find(member);
  AddResult result = Decide(node ? std::optional(node->score()) : std::nullopt, score, rule);
  result.score += 0.0;  // makes 0.0 of -0.0
  if (result.kind == AddResult::Kind::kUpdated) body_->Remove(node);
  if (result.kind == AddResult::Kind::kUpdated || result.kind == AddResult::Kind::kAdded) {
    body_->Insert(member, result.score);
  }
  return result;
}

bool SortedSet::Remove(std::string_view member) {
  const Node* node = body_->Find(member);
  if (node == nullptr) return false;
  body_->Remove(node);
  return true;
}

size_t SortedSet::Remove(RankRange ranks) {
  ranks.last = std::min(ranks.last, size());
  const Node* node = ranks.empty() ? nullptr : body_->list.At(ranks.first);
  for (size_t left = ranks.size(); left > 0; --left) {
    const Node* next = node->next();
    body_->Remove(node);
    node = next;
  }
  return ranks.size();
}

std::optional<double> SortedSet::Score(std::string_view member) const {
  const Node* node = body_->Find(member);
  if (node == nullptr) return std::nullopt;
  return node->score();
}

std::optional<size_t> SortedSet::Rank(std::string_view member) const {
  const Node* node = body_->Find(member);
  if (node == nullptr) return std::nullopt;
  return body_->list.CountWhile(
      [&](const Node& other) { return other.Precedes(node->score(), node->member()); });
}

RankRange SortedSet::Ranks(const ScoreRange& range) const {
  if (range.empty()) return {};
  return {body_->list.CountWhile([&](const Node& at) { return IsBelow(at.score(), range.min); }),
          body_->list.CountWhile([&](const Node& at) { return !IsAbove(at.score(), range.max); })};
}

RankRange SortedSet::Ranks(const LexRange& range) const {
  return {body_->list.CountWhile([&](const Node& at) { return IsBelow(at.member(), range.min); }),
          body_->list.CountWhile([&](const Node& at) { return !IsAbove(at.member(), range.max); })};
}

SortedSet::Cursor SortedSet::At(size_t rank) const { return Cursor(body_->list.At(rank)); }

Element SortedSet::Cursor::element() const {
  return {NodeOf(node_)->member(), NodeOf(node_)->score()};
}

void SortedSet::Cursor::Next() { node_ = NodeOf(node_)->next(); }

void SortedSet::Cursor::Previous() { node_ = NodeOf(node_)->previous(); }

}  // namespace zsetd
