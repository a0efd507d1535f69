#include "core/sorted_set/element_selector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"
#include "tests/support/steps.h"

namespace zsetd {
namespace {

using Pairs = std::vector<std::pair<double, std::string>>;

Pairs Selected(const Pairs& elements, const Selection& selection) {
  ElementSelector selector(selection);
  for (const auto& [score, member] : elements) selector.Add(member, score);
  Pairs taken;
  for (const auto& [score, member] : selector.Take()) taken.emplace_back(score, member);
  return taken;
}

TEST(ElementSelector, WithoutLimitSortsAll) {
  EXPECT_EQ(Selected({{2, "b"}, {1, "z"}, {2, "a"}}, {}), (Pairs{{1, "z"}, {2, "a"}, {2, "b"}}));
  EXPECT_EQ(Selected({}, {}), Pairs());
}

TEST(ElementSelector, NegativeZeroIsZero) {
  const Pairs taken = Selected({{-0.0, "b"}, {0.0, "a"}}, {});
  EXPECT_EQ(taken, (Pairs{{0, "a"}, {0, "b"}}));
  EXPECT_FALSE(std::signbit(taken[1].first));
}

TEST(ElementSelector, AnOffsetNearTheLargestNumberSelectsNothing) {
  EXPECT_EQ(Selected({{1, "a"}}, {.offset = Selection::kAll, .count = Selection::kAll}), Pairs());
  EXPECT_EQ(Selected({{1, "a"}}, {.count = 0}), Pairs());
}

TEST(ElementSelector, SelectsTheElementsOfASortedSetInThatRange) {
  constexpr uint64_t kSeed = 1;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  Rng rng(kSeed);
  for (int round = 0; round < Steps(300); ++round) {
    const size_t size = rng.Below(2000);
    SortedSet set;
    Pairs elements;
    for (size_t i = 0; i < size; ++i) {
      elements.emplace_back(static_cast<double>(rng.Below(50)),
                            "m" + std::to_string(i * 7919 % 10007));
      set.Set(elements.back().second, elements.back().first);
    }
    Selection selection = {.reversed = rng.Below(2) == 0,
                           .offset = rng.Below(40),
                           .count = rng.Below(3) == 0 ? Selection::kAll : rng.Below(200)};
    if (rng.Below(2) == 0) {
      selection.scores = {.min = {.score = 10, .exclusive = rng.Below(2) == 0},
                          .max = {.score = 40, .exclusive = rng.Below(2) == 0}};
    }
    Pairs expected;
    const RankRange ranks = set.Ranks(selection.scores);
    for (size_t i = selection.offset; i < ranks.size() && expected.size() < selection.count; ++i) {
      const SortedSet::Cursor at =
          set.At(selection.reversed ? ranks.last - 1 - i : ranks.first + i);
      expected.emplace_back(at.score(), std::string(at.member()));
    }
    ASSERT_EQ(Selected(elements, selection), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace zsetd
