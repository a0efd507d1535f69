#include "core/sorted_set/operations/set_operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/util/rng.h"
#include "tests/core/sorted_set/sorted_set_model.h"

namespace zsetd::set_operations_test {
namespace {

using Pair = SortedSetModel::Pair;
using Scores = std::map<std::string, double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SortedSet SetOf(const Scores& scores) {
  SortedSet set;
  for (const auto& [member, score] : scores) set.Set(member, score);
  return set;
}

TEST(SetAlgebra, SetMayBeGivenTwice) {
  const SortedSet set = SetOf({{"a", 1}, {"b", 2}});
  const std::vector<WeightedSet> inputs = {{&set, 1}, {&set, 10}};
  const std::vector<Pair> expected = {{11, "a"}, {22, "b"}};
  EXPECT_EQ(ElementsOf(Union(inputs, Aggregate::kSum)), expected);
  EXPECT_EQ(ElementsOf(Intersection(inputs, Aggregate::kSum)), expected);
}

// A look-up of each member in each input would take 80 million look-ups.
TEST(SetAlgebra, ASetGivenAThousandTimesIsWalkedOnce) {
  SortedSet set;
  Set plain;
  for (int i = 0; i < 20'000; ++i) {
    set.Set("member:" + std::to_string(i), i);
    plain.Add("member:" + std::to_string(i));
  }
  std::vector<WeightedSet> inputs(1'000, {&set, 1});
  inputs.insert(inputs.end(), 1'000, {nullptr, 1, &plain});
  const std::clock_t start = std::clock();
  EXPECT_EQ(Union(inputs, Aggregate::kSum).Score("member:7"), 8'000);
  EXPECT_EQ(Intersection(inputs, Aggregate::kMax).Score("member:7"), 7);
  EXPECT_EQ(IntersectionSize(inputs, 20'000), 20'000u);
  EXPECT_TRUE(Difference(inputs).empty());
  EXPECT_LT(std::clock() - start, 30 * CLOCKS_PER_SEC);
}

TEST(SetAlgebra, InfinitiesThatCancelGiveZero) {
  const SortedSet high = SetOf({{"a", kInfinity}}), low = SetOf({{"a", -kInfinity}});
  const std::vector<Pair> zero = {{0, "a"}};
  const std::vector<WeightedSet> both = {{&high, 1}, {&low, 1}};
  EXPECT_EQ(ElementsOf(Union(both, Aggregate::kSum)), zero);
  EXPECT_EQ(ElementsOf(Intersection(both, Aggregate::kSum)), zero);
  const std::vector<WeightedSet> weightless = {{&high, 0}};
  EXPECT_EQ(ElementsOf(Union(weightless, Aggregate::kMax)), zero);
}

// A sum that is 0 because opposite infinities met continues from that 0, in the order of size.
TEST(SetAlgebra, InfinitiesAreCombinedOneByOneFromTheSmallestSet) {
  const SortedSet big = SetOf({{"a", kInfinity}, {"b", 1}}), small = SetOf({{"a", -kInfinity}});
  const std::vector<WeightedSet> inputs = {{&big, 1}, {&big, 1}, {&small, 1}};
  EXPECT_EQ(Union(inputs, Aggregate::kSum).Score("a"), kInfinity);
  EXPECT_EQ(Intersection(inputs, Aggregate::kSum).Score("a"), kInfinity);
}

// Like Redis: a union treats NaN as 0, an intersection only if its first input has it.
TEST(SetAlgebra, InfinityTimesZeroIsIgnoredByAMaximumInAnIntersection) {
  const SortedSet set = SetOf({{"a", -kInfinity}});
  const std::vector<WeightedSet> last = {{&set, 1}, {&set, 0}}, first = {{&set, 0}, {&set, 1}};
  EXPECT_EQ(Union(last, Aggregate::kMax).Score("a"), 0);
  EXPECT_EQ(Intersection(last, Aggregate::kMax).Score("a"), -kInfinity);
  EXPECT_EQ(Intersection(last, Aggregate::kSum).Score("a"), 0);
  EXPECT_EQ(Intersection(first, Aggregate::kMax).Score("a"), 0);
}

TEST(SetAlgebra, MissingSetIsEmpty) {
  const SortedSet set = SetOf({{"a", 1}});
  const std::vector<WeightedSet> inputs = {{&set, 1}, {nullptr, 1}};
  EXPECT_EQ(Union(inputs, Aggregate::kSum).size(), 1u);
  EXPECT_TRUE(Intersection(inputs, Aggregate::kSum).empty());
  EXPECT_TRUE(Union({}, Aggregate::kSum).empty());
  EXPECT_TRUE(Intersection({}, Aggregate::kSum).empty());
  EXPECT_EQ(IntersectionSize(inputs, 9), 0u);
  EXPECT_EQ(Difference(inputs).size(), 1u);
  EXPECT_TRUE(Difference({}).empty());
}

double Combined(double a, double b, Aggregate aggregate) {
  if (aggregate == Aggregate::kMin) return std::min(a, b);
  if (aggregate == Aggregate::kMax) return std::max(a, b);
  return a + b;
}

// Whole scores and weights, so that sums do not depend on their order.
TEST(SetAlgebra, BehavesLikeTheModel) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const auto aggregate = static_cast<Aggregate>(rng.Below(4));
    std::vector<SortedSet> sets;
    std::vector<WeightedSet> inputs;
    for (uint64_t count = 1 + rng.Below(4); count > 0; --count) {
      Scores scores;
      for (uint64_t i = rng.Below(200); i > 0; --i) {
        scores["m" + std::to_string(rng.Below(150))] = double(rng.Below(100));
      }
      sets.push_back(SetOf(scores));
    }
    for (const SortedSet& set : sets) inputs.push_back({&set, double(rng.Below(5)) - 2});

    Scores expected;
    std::map<std::string, size_t> times;
    for (const WeightedSet& input : inputs) {
      for (const auto& [score, member] : ElementsOf(*input.set)) {
        const double counted = aggregate == Aggregate::kCount ? 1 : score;
        const double weighted = counted * input.weight;
        const bool is_new = times[member]++ == 0;
        expected[member] = is_new ? weighted : Combined(expected[member], weighted, aggregate);
      }
    }
    ASSERT_EQ(ElementsOf(Union(inputs, aggregate)), ElementsOf(SetOf(expected)));
    Scores left;
    for (const auto& [score, member] : ElementsOf(sets[0])) {
      if (times[member] == 1) left[member] = score;
    }
    ASSERT_EQ(ElementsOf(Difference(inputs)), ElementsOf(SetOf(left)));

    std::erase_if(expected, [&](const auto& e) { return times[e.first] < inputs.size(); });
    ASSERT_EQ(ElementsOf(Intersection(inputs, aggregate)), ElementsOf(SetOf(expected)));
    ASSERT_EQ(IntersectionSize(inputs, 1000), expected.size());
    ASSERT_EQ(IntersectionSize(inputs, 3), std::min<size_t>(3, expected.size()));
  }
}

// Each plain set is an input, and so is the sorted set that it is equivalent to.
TEST(SetAlgebra, APlainSetCountsAsScoresOfOne) {
  Rng rng(4);
  std::vector<SortedSet> sorted(2);
  std::vector<Set> plain(2);
  for (int i = 0; i < 600; ++i) {
    const std::string member = std::to_string(rng.Below(500));
    sorted[i % 2].Set(member, 1);
    plain[i % 2].Add(member);
  }
  const std::vector<WeightedSet> counted = {{&sorted[0], 2}, {&sorted[1], 3}};
  const std::vector<WeightedSet> mixed = {{&sorted[0], 2}, {nullptr, 3, &plain[1]}};
  const std::vector<WeightedSet> both = {{nullptr, 2, &plain[0]}, {nullptr, 3, &plain[1]}};
  for (const auto& inputs : {mixed, both}) {
    EXPECT_EQ(ElementsOf(Union(inputs, Aggregate::kSum)),
              ElementsOf(Union(counted, Aggregate::kSum)));
    EXPECT_EQ(ElementsOf(Intersection(inputs, Aggregate::kMax)),
              ElementsOf(Intersection(counted, Aggregate::kMax)));
    EXPECT_EQ(ElementsOf(Difference(inputs)), ElementsOf(Difference(counted)));
    EXPECT_EQ(IntersectionSize(inputs, 1'000), IntersectionSize(counted, 1'000));
    EXPECT_EQ(IntersectionSize(inputs, 10), 10u);
  }
}

// It may be a null pointer, which sanitizers do not accept as an argument of memmove.
TEST(SetAlgebra, AnEmptyMemberMayComeFirst) {
  SortedSet set;
  set.Set(std::string_view(), 1);
  set.Set("b", 2);
  const WeightedSet inputs[] = {{.set = &set}};
  for (const SortedSet& result : {Intersection(inputs, Aggregate::kSum),
                                  Union(inputs, Aggregate::kSum), Difference(inputs)}) {
    EXPECT_EQ(result.Score(""), 1);
    EXPECT_EQ(result.size(), 2u);
  }
}

}  // namespace
}  // namespace zsetd::set_operations_test
