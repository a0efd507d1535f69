// Unions, intersections and differences of sets with a form, next to a model that folds each
// mention of a set by itself.
#include "core/sorted_set/operations/formed_operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/util/rng.h"

namespace zsetd::formed_operations_test {
namespace {

using Codes = std::map<std::string, uint64_t>;
using Integers = std::map<std::string, int64_t>;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

SortedSet SetOf(const ScoreForm& form, const Codes& codes) {
  SortedSet set;
  EXPECT_TRUE(set.SetForm(form));
  for (const auto& [member, code] : codes) set.Place(member, code);
  return set;
}

SortedSet IntegerSet(const Integers& integers) {
  Codes codes;
  const ScoreForm form = ScoreForm::Int64();
  for (const auto& [member, integer] : integers) {
    codes[member] = *form.Code(std::to_string(integer));
  }
  return SetOf(form, codes);
}

SortedSet DecayingSet(const Codes& codes) { return SetOf(*ScoreForm::Read("HALFLIFE 60"), codes); }

Codes CodesOf(const SortedSet& set) {
  Codes codes;
  for (auto at = set.At(0); at.valid(); at.Next()) {
    codes[std::string(at.member())] = ScoreCode(at.score());
  }
  EXPECT_EQ(codes.size(), set.size());
  return codes;
}

std::vector<WeightedSet> Named(const std::vector<const SortedSet*>& sets) {
  std::vector<WeightedSet> inputs;
  for (const SortedSet* set : sets) inputs.push_back({.set = set});
  return inputs;
}

std::string ScoreOfA(SetOperation operation, const std::vector<const SortedSet*>& sets,
                     Aggregate aggregate = Aggregate::kSum) {
  const auto result = CombineFormed(operation, Named(sets), aggregate);
  if (!result) return "overflow";
  const std::optional<double> score = result->Score("a");
  return score ? result->form().ScoreText(ScoreCode(*score)) : "missing";
}

// A look-up of each member in each input would take 80 million look-ups.
TEST(FormedAlgebra, ASetGivenAThousandTimesIsReadOnce) {
  Integers integers;
  for (int i = 0; i < 20'000; ++i) integers["member:" + std::to_string(i)] = i;
  const SortedSet set = IntegerSet(integers);
  const std::vector<WeightedSet> inputs(4'000, {.set = &set});
  const std::clock_t start = std::clock();
  const auto sum = CombineFormed(SetOperation::kUnion, inputs, Aggregate::kSum);
  EXPECT_EQ(set.form().ScoreText(ScoreCode(*sum->Score("member:7"))), "28000");
  EXPECT_EQ(CombineFormed(SetOperation::kIntersection, inputs, Aggregate::kMax)->Score("member:7"),
            set.Score("member:7"));
  EXPECT_TRUE(CombineFormed(SetOperation::kDifference, inputs, Aggregate::kSum)->empty());
  EXPECT_LT(std::clock() - start, 30 * CLOCKS_PER_SEC);
}

// A walk through the large set would take 20,000,000 steps.
TEST(FormedAlgebra, AnIntersectionStartsAtTheSmallestSet) {
  Integers integers;
  for (int i = 0; i < 20'000; ++i) integers["member:" + std::to_string(i)] = i;
  const SortedSet large = IntegerSet(integers), small = IntegerSet({{"member:5", 1}, {"a", 1}});
  const std::clock_t start = std::clock();
  for (int i = 0; i < 1'000; ++i) {
    const auto inputs = Named({&large, &small});
    ASSERT_EQ(CombineFormed(SetOperation::kIntersection, inputs, Aggregate::kSum)->size(), 1u);
    const auto missing = Named({&large, nullptr});
    ASSERT_TRUE(CombineFormed(SetOperation::kIntersection, missing, Aggregate::kSum)->empty());
  }
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC);
}

TEST(FormedAlgebra, SumsOfIntegersDoNotDependOnTheOrder) {
  const SortedSet most = IntegerSet({{"a", kMost}}), one = IntegerSet({{"a", 1}}),
                  minus_one = IntegerSet({{"a", -1}});
  const std::string text = std::to_string(kMost);
  for (const SetOperation operation : {SetOperation::kUnion, SetOperation::kIntersection}) {
    EXPECT_EQ(ScoreOfA(operation, {&most, &one, &minus_one}), text);
    EXPECT_EQ(ScoreOfA(operation, {&one, &most, &minus_one}), text);
    EXPECT_EQ(ScoreOfA(operation, {&most, &minus_one, &one}), text);
    EXPECT_EQ(ScoreOfA(operation, {&most, &one}), "overflow");
    EXPECT_EQ(ScoreOfA(operation, {&most, &most}), "overflow");
    EXPECT_EQ(ScoreOfA(operation, {&most, &most}, Aggregate::kMin), text);
    EXPECT_EQ(ScoreOfA(operation, {&most, &one, &most}, Aggregate::kCount), "3");
  }
}

TEST(FormedAlgebra, ASumThatIsNotInTheResultMayOverflow) {
  const SortedSet most = IntegerSet({{"a", kMost}, {"b", 1}}), other = IntegerSet({{"b", 1}});
  EXPECT_EQ(ScoreOfA(SetOperation::kIntersection, {&most, &most, &other}), "missing");
  EXPECT_EQ(ScoreOfA(SetOperation::kDifference, {&most, &other}), std::to_string(kMost));
}

TEST(FormedAlgebra, SumsOfDecayingScoresCountEachMention) {
  const SortedSet set = DecayingSet({{"a", ScoreCode(-1)}, {"zero", ScoreCode(-INFINITY)}});
  for (const size_t times : {1, 2, 3, 1000}) {
    const std::vector<WeightedSet> inputs(times, {.set = &set});
    double folded = -1;
    for (size_t i = 1; i < times; ++i) folded = HalfLife::Sum(folded, -1);
    for (const SetOperation operation : {SetOperation::kUnion, SetOperation::kIntersection}) {
      const auto sum = CombineFormed(operation, inputs, Aggregate::kSum);
      EXPECT_NEAR(*sum->Score("a"), folded, 1e-12);
      EXPECT_TRUE(HalfLife::IsStored(*sum->Score("a")));
      EXPECT_EQ(sum->Score("zero"), -INFINITY);
    }
  }
  EXPECT_EQ(
      ScoreCode(
          *CombineFormed(SetOperation::kUnion, Named({&set, &set}), Aggregate::kSum)->Score("a")),
      ScoreCode(0.0));
}

// Computes what CombineFormed() should return for INT64.
class IntegerModel {
 public:
  IntegerModel(std::vector<Integers> inputs, Aggregate aggregate)
      : inputs_(std::move(inputs)), aggregate_(aggregate) {}

  std::optional<Integers> Result(SetOperation operation) const {
    Integers result;
    for (const auto& [member, values] : ValuesByMember()) {
      if (operation == SetOperation::kIntersection && values.size() < inputs_.size()) continue;
      const __int128 score = Folded(values);
      if (score > kMost || score < std::numeric_limits<int64_t>::min()) return std::nullopt;
      result[member] = static_cast<int64_t>(score);
    }
    return result;
  }

 private:
  std::map<std::string, std::vector<int64_t>> ValuesByMember() const {
    std::map<std::string, std::vector<int64_t>> values;
    for (const Integers& input : inputs_) {
      for (const auto& [member, integer] : input) values[member].push_back(integer);
    }
    return values;
  }

  __int128 Folded(const std::vector<int64_t>& values) const {
    if (aggregate_ == Aggregate::kMin) return std::ranges::min(values);
    if (aggregate_ == Aggregate::kMax) return std::ranges::max(values);
    if (aggregate_ == Aggregate::kCount) return static_cast<__int128>(values.size());
    __int128 sum = 0;
    for (const int64_t value : values) sum += value;
    return sum;
  }

  std::vector<Integers> inputs_;
  Aggregate aggregate_;
};

TEST(FormedAlgebra, BehavesLikeTheModel) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const auto aggregate = static_cast<Aggregate>(rng.Below(4));
    std::vector<Integers> different(1 + rng.Below(4));
    for (Integers& integers : different) {
      for (uint64_t i = rng.Below(60); i > 0; --i) {
        const int shift = rng.Below(40) == 0 ? 0 : static_cast<int>(2 + rng.Below(60));
        integers["m" + std::to_string(rng.Below(50))] = static_cast<int64_t>(rng.Next()) >> shift;
      }
    }
    std::vector<SortedSet> sets;
    for (const Integers& integers : different) sets.push_back(IntegerSet(integers));
    std::vector<Integers> mentioned;
    std::vector<WeightedSet> inputs;
    for (uint64_t i = 1 + rng.Below(6); i > 0; --i) {
      const size_t one = rng.Below(sets.size());
      mentioned.push_back(different[one]);
      inputs.push_back({.set = &sets[one]});
    }
    const IntegerModel model(mentioned, aggregate);
    for (const SetOperation operation : {SetOperation::kUnion, SetOperation::kIntersection}) {
      const auto expected = model.Result(operation);
      const auto result = CombineFormed(operation, inputs, aggregate);
      ASSERT_EQ(result.has_value(), expected.has_value());
      if (!result) continue;
      ASSERT_EQ(CodesOf(*result), CodesOf(IntegerSet(*expected)));
      result->Check();
    }
    Integers left = mentioned[0];
    std::erase_if(left, [&](const auto& each) {
      return std::any_of(mentioned.begin() + 1, mentioned.end(),
                         [&](const Integers& other) { return other.contains(each.first); });
    });
    const auto difference = CombineFormed(SetOperation::kDifference, inputs, aggregate);
    ASSERT_EQ(CodesOf(*difference), CodesOf(IntegerSet(left)));
  }
}

}  // namespace
}  // namespace zsetd::formed_operations_test
