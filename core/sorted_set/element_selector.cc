#include "core/sorted_set/element_selector.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <utility>

namespace zsetd {
namespace {

constexpr size_t kLeast = 64;  // elements that are kept before any is dropped

size_t SaturatingSum(size_t a, size_t b) { return a + std::min(b, Selection::kAll - a); }

}  // namespace

ElementSelector::ElementSelector(const Selection& selection)
    : selection_(selection),
      most_(selection.count == 0 ? 0 : SaturatingSum(selection.offset, selection.count)),
      full_at_(std::max(kLeast, SaturatingSum(most_, most_))) {}

bool ElementSelector::IsInRange(double score) const {
  const auto& [min, max] = selection_.scores;
  const bool above = min.exclusive ? score > min.score : score >= min.score;
  return above && (max.exclusive ? score < max.score : score <= max.score);
}

bool ElementSelector::Precedes(double score, std::string_view member, const Selected& other) const {
  if (score != other.score) return (score < other.score) != selection_.reversed;
  return member != other.member && (member < other.member) != selection_.reversed;
}

void ElementSelector::Add(std::string_view member, double score) {
  assert(!std::isnan(score));
  score += 0.0;  // -0 becomes 0
  if (most_ == 0 || !IsInRange(score)) return;
  if (is_pruned_ && !Precedes(score, member, kept_[most_ - 1])) return;
  kept_.push_back({score, std::string(member)});
  if (kept_.size() >= full_at_) Prune();
}

void ElementSelector::Prune() {
  const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(most_ - 1);
  std::nth_element(kept_.begin(), last, kept_.end(), [this](const Selected& a, const Selected& b) {
    return Precedes(a.score, a.member, b);
  });
  kept_.erase(std::next(last), kept_.end());
  is_pruned_ = true;
}

std::vector<ElementSelector::Selected> ElementSelector::Take() {
  if (kept_.size() > most_) Prune();
  std::ranges::sort(kept_, [this](const Selected& a, const Selected& b) {
    return Precedes(a.score, a.member, b);
  });
  const size_t dropped = std::min(selection_.offset, kept_.size());
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(dropped));
  if (kept_.size() > selection_.count) kept_.resize(selection_.count);
  return std::move(kept_);
}

}  // namespace zsetd
