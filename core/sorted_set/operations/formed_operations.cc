#include "core/sorted_set/operations/formed_operations.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <map>
#include <string>

#include "core/sorted_set/sorted_set_builder.h"

namespace zsetd {
namespace {

// The score of a member, and the number of inputs that have it.
struct CombinedScore {
  uint64_t code = 0;
  size_t inputs = 0;
  bool overflows = false;  // an error only if the result has the member
};

using Combined = std::map<std::string, CombinedScore, std::less<>>;

std::optional<uint64_t> Combine(const ScoreForm& form, Aggregate aggregate, uint64_t held,
                                uint64_t code) {
  switch (aggregate) {
    case Aggregate::kMin:
      return std::min(held, code);
    case Aggregate::kMax:
      return std::max(held, code);
    case Aggregate::kSum:
    case Aggregate::kCount:
      return form.SumOfScores(held, code);
  }
  return std::nullopt;
}

// Integers have all of them, tuples no sums, and numbers of inputs do not decay.
bool IsDefined(const ScoreForm& form, Aggregate aggregate) {
  if (aggregate == Aggregate::kCount) return form.kind() == ScoreForm::Kind::kInt64;
  return aggregate != Aggregate::kSum || form.kind() != ScoreForm::Kind::kTuple;
}

// The score that one input contributes.
uint64_t Contribution(const ScoreForm& form, Aggregate aggregate, uint64_t code) {
  return aggregate == Aggregate::kCount ? form.Sum(form.ZeroCode(), 1).value_or(code) : code;
}

void Fold(Combined& combined, const SortedSet& set, Aggregate aggregate) {
  const ScoreForm& form = set.form();
  for (auto at = set.At(0); at.valid(); at.Next()) {
    const uint64_t code = Contribution(form, aggregate, ScoreCode(at.score()));
    CombinedScore& score = combined[std::string(at.member())];
    if (score.inputs++ == 0) {
      score.code = code;
      continue;
    }
    const auto sum = Combine(form, aggregate, score.code, code);
    score.overflows |= !sum;
    score.code = sum.value_or(code);
  }
}

}  // namespace

std::optional<SortedSet> CombineFormed(SetOperation operation, std::span<const WeightedSet> inputs,
                                       Aggregate aggregate) {
  const auto some = std::ranges::find_if(inputs, [](const auto& input) { return input.set; });
  assert(some != inputs.end() && some->set->has_form());
  const ScoreForm& form = some->set->form();
  if (operation == SetOperation::kDifference) aggregate = Aggregate::kMin;  // has no effect
  if (!IsDefined(form, aggregate)) return std::nullopt;
  Combined combined;
  for (const WeightedSet& input : inputs) {
    if (operation == SetOperation::kDifference && &input != &inputs[0]) {
      std::erase_if(combined, [&](const auto& each) {
        return input.set != nullptr && input.set->Contains(each.first);
      });
    } else if (input.set != nullptr) {
      Fold(combined, *input.set, aggregate);
    }
  }
  SortedSetBuilder builder(form);
  for (const auto& [member, score] : combined) {
    const bool is_in_all = score.inputs == inputs.size();
    if (operation == SetOperation::kIntersection && !is_in_all) continue;
    if (score.overflows) return std::nullopt;
    builder.AddView(member, ScoreOf(score.code));
  }
  return builder.Build();
}

}  // namespace zsetd
