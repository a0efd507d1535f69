#include "core/sorted_set/operations/formed_operations.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/sorted_set_builder.h"

namespace zsetd {
namespace {

// A distinct input that is not empty, and how often the request names it.
struct FormedInput {
  const SortedSet* set = nullptr;
  size_t times = 0;
};

std::vector<FormedInput> DistinctFormed(std::span<const WeightedSet> inputs) {
  std::vector<FormedInput> distinct;
  std::unordered_map<const SortedSet*, size_t> places;
  for (const WeightedSet& input : inputs) {
    if (input.size() == 0) continue;
    const auto [place, is_new] = places.try_emplace(input.set, distinct.size());
    if (is_new) distinct.push_back({.set = input.set});
    ++distinct[place->second].times;
  }
  return distinct;
}

std::vector<FormedInput> FormedBySize(std::span<const WeightedSet> inputs) {
  std::vector<FormedInput> sorted = DistinctFormed(inputs);
  std::ranges::stable_sort(sorted, {}, [](const FormedInput& input) { return input.set->size(); });
  return sorted;
}

// Integers have all of them, tuples no sums, and numbers of inputs do not decay.
bool IsDefined(const ScoreForm& form, Aggregate aggregate) {
  if (aggregate == Aggregate::kCount) return form.kind() == ScoreForm::Kind::kInt64;
  return aggregate != Aggregate::kSum || form.kind() != ScoreForm::Kind::kTuple;
}

// How the scores of a member of several sets with a form are combined.
class FormedFold {
 public:
  // A code; for sums and counts of integers the integer itself, which may exceed 64 bits until all
  // inputs are added. So the order of the inputs does not matter.
  using Held = __int128;

  FormedFold(const ScoreForm& form, Aggregate aggregate)
      : form_(form), aggregate_(aggregate), zero_(form.ZeroCode()) {}

  // The score that an input contributes. Integers cannot overflow: a request names fewer than 2^60
  // keys.
  Held Contribution(double score, size_t times) const {
    if (aggregate_ == Aggregate::kCount) return static_cast<Held>(times);
    if (IsIntegerSum()) return (Held{ScoreCode(score)} - zero_) * static_cast<Held>(times);
    if (aggregate_ != Aggregate::kSum) return ScoreCode(score);
    return ScoreCode(score + std::log2(static_cast<double>(times)) + 0.0);  // never -0.0
  }

  Held Combine(Held a, Held b) const {
    if (IsIntegerSum()) return a + b;
    if (aggregate_ == Aggregate::kMin) return std::min(a, b);
    if (aggregate_ == Aggregate::kMax) return std::max(a, b);
    return ScoreCode(HalfLife::Sum(ScoreIn(a), ScoreIn(b)));
  }

  // The score as the result has it; nullopt if it overflows.
  std::optional<double> Score(Held held) const {
    const Held code = IsIntegerSum() ? held + zero_ : held;
    const bool overflows = code < 0 || code > CodeRange::kMost;
    return overflows ? std::nullopt : std::optional(ScoreIn(code));
  }

 private:
  bool IsIntegerSum() const {
    return aggregate_ == Aggregate::kCount || (aggregate_ == Aggregate::kSum && !form_.decays());
  }

  static double ScoreIn(Held code) { return ScoreOf(static_cast<uint64_t>(code)); }

  const ScoreForm& form_;
  const Aggregate aggregate_;
  const Held zero_;
};

// The members of a union with their scores.
using FormedTable =
    absl::flat_hash_map<std::string, FormedFold::Held, KeyedHasher, std::equal_to<>>;

FormedTable TableOfUnion(std::span<const FormedInput> inputs, const FormedFold& fold) {
  FormedTable table;
  if (!inputs.empty()) table.reserve(inputs.back().set->size());
  for (const FormedInput& input : inputs) {
    for (auto at = input.set->At(0); at.valid(); at.Next()) {
      const FormedFold::Held added = fold.Contribution(at.score(), input.times);
      const auto [place, is_new] = table.try_emplace(at.member(), added);
      if (!is_new) place->second = fold.Combine(place->second, added);
    }
  }
  return table;
}

std::optional<SortedSet> FormedUnion(std::span<const WeightedSet> inputs, const ScoreForm& form,
                                     const FormedFold& fold) {
  const FormedTable table = TableOfUnion(FormedBySize(inputs), fold);
  SortedSetBuilder builder(form);
  for (const auto& [member, held] : table) {
    const std::optional<double> score = fold.Score(held);
    if (!score) return std::nullopt;
    builder.AddView(member, *score);
  }
  return builder.Build();
}

// The score of a member of the first input in the intersection; nullopt if another input lacks it.
std::optional<FormedFold::Held> FormedIntersected(const Element& element,
                                                  std::span<const FormedInput> inputs,
                                                  const FormedFold& fold) {
  FormedFold::Held held = fold.Contribution(element.score, inputs[0].times);
  for (const FormedInput& other : inputs.subspan(1)) {
    const std::optional<double> found = other.set->Score(element.member);
    if (!found) return std::nullopt;
    held = fold.Combine(held, fold.Contribution(*found, other.times));
  }
  return held;
}

std::optional<SortedSet> FormedIntersection(std::span<const WeightedSet> inputs,
                                            const ScoreForm& form, const FormedFold& fold) {
  SortedSetBuilder builder(form);
  if (std::ranges::any_of(inputs, [](const WeightedSet& input) { return input.size() == 0; })) {
    return builder.Build();
  }
  const std::vector<FormedInput> sets = FormedBySize(inputs);
  for (auto at = sets[0].set->At(0); at.valid(); at.Next()) {
    const auto held = FormedIntersected(at.element(), sets, fold);
    if (!held) continue;
    const std::optional<double> score = fold.Score(*held);
    if (!score) return std::nullopt;
    builder.Add(at.member(), *score);
  }
  return builder.Build();
}

std::optional<SortedSet> FormedDifference(std::span<const WeightedSet> inputs,
                                          const ScoreForm& form) {
  SortedSetBuilder builder(form);
  if (inputs[0].size() == 0) return builder.Build();
  const std::vector<FormedInput> others = DistinctFormed(inputs.subspan(1));
  for (auto at = inputs[0].set->At(0); at.valid(); at.Next()) {
    const auto has_member = [&](const FormedInput& other) {
      return other.set->Contains(at.member());
    };
    if (std::ranges::none_of(others, has_member)) builder.Add(at.member(), at.score());
  }
  return builder.Build();
}

}  // namespace

std::optional<SortedSet> CombineFormed(SetOperation operation, std::span<const WeightedSet> inputs,
                                       Aggregate aggregate) {
  const auto some = std::ranges::find_if(inputs, [](const auto& input) { return input.set; });
  assert(some != inputs.end() && some->set->has_form());
  const ScoreForm& form = some->set->form();
  if (operation == SetOperation::kDifference) return FormedDifference(inputs, form);
  if (!IsDefined(form, aggregate)) return std::nullopt;
  const FormedFold fold(form, aggregate);
  return operation == SetOperation::kUnion ? FormedUnion(inputs, form, fold)
                                           : FormedIntersection(inputs, form, fold);
}

}  // namespace zsetd
