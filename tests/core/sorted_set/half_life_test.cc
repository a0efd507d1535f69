// Scores that halve in every half-life: their arithmetic, and sets of them.
#include "core/sorted_set/form/half_life.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sorted_set/operations/formed_operations.h"
#include "core/sorted_set/sorted_set.h"
#include "core/sorted_set/timed_score_range.h"
#include "core/util/rng.h"

namespace zsetd::half_life_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Millis kNow{1'795'703'690'123};  // November 2026
constexpr Millis kHour{3'600'000};

ScoreForm Decaying(uint32_t seconds) {
  const auto form = ScoreForm::Read("HALFLIFE " + std::to_string(seconds));
  EXPECT_TRUE(form && form->decays()) << seconds;
  return form.value_or(ScoreForm());
}

TEST(HalfLife, FormsHaveOneToABillionSeconds) {
  for (const std::string text : {"HALFLIFE 1", "HALFLIFE 3600", "HALFLIFE 1000000000"}) {
    const auto form = ScoreForm::Read(text);
    ASSERT_TRUE(form) << text;
    EXPECT_EQ(form->Text(), text);
  }
  EXPECT_EQ(ScoreForm::Read("halflife 60"), Decaying(60));
  EXPECT_NE(Decaying(60), Decaying(61));
  for (const std::string text :
       {"HALFLIFE", "HALFLIFE ", "HALFLIFE 0", "HALFLIFE -1", "HALFLIFE 1.5", "HALFLIFE 1000000001",
        "HALFLIFE 60 LOG2", "HALFLIFE x", "HALFLIFE 4294967297"}) {
    EXPECT_FALSE(ScoreForm::Read(text)) << text;
  }
}

TEST(HalfLife, ScoresHalve) {
  const HalfLife hour(3600);
  const double stored = hour.Stored(3, kNow);
  EXPECT_EQ(hour.Shown(stored, kNow), 3);
  EXPECT_EQ(hour.Shown(stored, kNow + kHour), 1.5);
  EXPECT_EQ(hour.Shown(stored, kNow + 3 * kHour), 0.375);
  EXPECT_EQ(hour.Shown(stored, kNow - kHour), 6);  // the clock was set back
  EXPECT_EQ(hour.Shown(HalfLife::Sum(stored, hour.Stored(1, kNow + kHour)), kNow + kHour), 2.5);
}

// Whole numbers are shown as whole numbers for a hundred years.
TEST(HalfLife, ShowsTheDigitsThatAreExact) {
  constexpr int64_t kDay = 86'400'000;
  for (const uint32_t seconds : {1u, 60u, 3600u, 86'400u, 1'000'000'000u}) {
    const HalfLife half_life(seconds);
    for (const int64_t day : {-20'000, -1, 0, 1, 300, 4000, 36'500}) {
      const Millis now = HalfLife::kLandmark + Millis(day * kDay + 12'345);
      double sum = half_life.Stored(0, now);
      for (int i = 1; i <= 30; ++i) {
        sum = HalfLife::Sum(sum, half_life.Stored(i, now));
        ASSERT_EQ(half_life.Shown(sum, now), i * (i + 1) / 2) << seconds << " s, day " << day;
      }
    }
  }
}

TEST(HalfLife, ScoresNeitherOverflowNorUnderflowAsTheyAreStored) {
  const HalfLife second(1);
  const double most = second.Stored(std::numeric_limits<double>::max(), kNow);
  const double twice = HalfLife::Sum(most, most);
  EXPECT_EQ(second.ScoreAt(twice, kNow), kInfinity);
  EXPECT_EQ(second.Shown(twice, kNow), kInfinity);
  EXPECT_TRUE(HalfLife::IsStored(twice));
  EXPECT_LT(second.Shown(twice, kNow + Millis(2000)), kInfinity);
  const double least = second.Stored(5e-324, kNow), one = second.Stored(1, kNow);
  EXPECT_LT(least, one);
  EXPECT_EQ(second.Shown(one, kNow + kHour), 0);
  EXPECT_LT(second.Stored(0, kNow), least);
  EXPECT_EQ(HalfLife::Sum(second.Stored(0, kNow), one), one);
  EXPECT_EQ(second.Stored(-0.0, kNow), -kInfinity);
  EXPECT_EQ(second.Shown(-kInfinity, kNow), 0);
  // Amounts that are far smaller change nothing.
  EXPECT_EQ(HalfLife::Sum(one, second.Stored(1, kNow - kHour)), one);
  for (const double number : {kInfinity, -0.0, std::nan("")}) {
    EXPECT_FALSE(HalfLife::IsStored(number));
  }
}

TEST(HalfLife, ScoresThatAreNotFiniteOrNegativeAreRefused) {
  const ScoreForm form = Decaying(60);
  for (const double score : {-1.0, -5e-324, kInfinity, -kInfinity, std::nan("")}) {
    EXPECT_FALSE(form.Code(score, kNow)) << score;
  }
  EXPECT_EQ(form.Code(0, kNow), form.ZeroCode());
  EXPECT_FALSE(form.Code("5"));  // needs the time
  for (const double stored : {-kInfinity, -17.25, 0.0, 1e300}) {
    const uint64_t code = ScoreCode(stored);
    EXPECT_TRUE(form.IsCode(code));
    EXPECT_EQ(form.Rounded(code), stored);
    EXPECT_EQ(form.Nearest(stored), code);
  }
  EXPECT_TRUE(form.IsCode(form.Nearest(kInfinity)));
  EXPECT_FALSE(form.IsCode(ScoreCode(kInfinity)));
  EXPECT_FALSE(form.IsCode(0));
  EXPECT_FALSE(form.IsCode(~uint64_t{0}));
}

std::string In(const SortedSet& set, TimedScoreBound min, TimedScoreBound max, Millis now) {
  const TimedScoreRange range = {std::move(min), std::move(max)};
  if (!range.Suits(set, now)) return "unsuited";
  const RankRange ranks = range.RanksIn(set, now);
  std::string members;
  for (size_t rank = ranks.first; rank < ranks.last; ++rank) members += set.At(rank).member();
  return members;
}

SortedSet SetOf(uint32_t seconds, const std::map<std::string, double>& scores) {
  SortedSet set;
  EXPECT_TRUE(set.SetForm(Decaying(seconds)));
  for (const auto& [member, score] : scores) set.Place(member, *set.form().Code(score, kNow));
  return set;
}

TEST(HalfLife, BoundsAreScoresOfNow) {
  const SortedSet set = SetOf(3600, {{"z", 0}, {"a", 1}, {"b", 4}, {"c", 16}});
  const auto in = [&](double min, double max, Millis after) {
    return In(set, {min}, {max}, kNow + after);
  };
  EXPECT_EQ(in(1, 4, Millis(0)), "ab");
  EXPECT_EQ(in(1, 4, 2 * kHour), "bc");
  EXPECT_EQ(in(0, 1, kHour), "za");
  EXPECT_EQ(in(-5, kInfinity, kHour), "zabc");
  EXPECT_EQ(in(-5, -1, kHour), "");
  EXPECT_EQ(in(-kInfinity, 0, kHour), "z");
  EXPECT_EQ(in(1e300, kInfinity, kHour), "");
  EXPECT_EQ(In(set, {.score = 1, .exclusive = true}, {.score = 16, .exclusive = true}, kNow), "b");
  EXPECT_EQ(In(set, {.score = 0, .exclusive = true}, {kInfinity}, kNow), "abc");
  EXPECT_EQ(In(set, {-kInfinity}, {.score = 0, .exclusive = true}, kNow), "");
  EXPECT_EQ(In(set, {0}, {.clock = TimedScoreBound::Clock::kSeconds}, kNow), "unsuited");
  EXPECT_EQ(In(set, {.exact = "1/2", .is_tuple = true}, {kInfinity}, kNow), "unsuited");
}

// A range is reached as soon as the lowest score above it has decayed enough.
TEST(HalfLife, RangesAreReachedInTime) {
  for (const uint32_t seconds : {1u, 60u, 3600u, 86'400u}) {
    const SortedSet set = SetOf(seconds, {{"a", 1}, {"b", 40}});
    for (const bool exclusive : {false, true}) {
      for (const double bound : {0.999, 0.5, 1e-6}) {
        const TimedScoreRange range = {{0}, {.score = bound, .exclusive = exclusive}};
        ASSERT_TRUE(range.RanksIn(set, kNow).empty());
        const std::optional<Millis> reached = range.NextReach(set, kNow);
        ASSERT_TRUE(reached);
        EXPECT_FALSE(range.RanksIn(set, *reached).empty()) << seconds << " s to " << bound;
        EXPECT_TRUE(range.RanksIn(set, *reached - Millis(2)).empty())
            << seconds << " s to " << bound;
      }
    }
    EXPECT_EQ((TimedScoreRange{{0}, {-1.0}}.NextReach(set, kNow)), std::nullopt);
    EXPECT_EQ((TimedScoreRange{{0}, {0.0}}.NextReach(set, kNow)), std::nullopt);
    EXPECT_EQ((TimedScoreRange{{50}, {kInfinity}}.NextReach(set, kNow)), std::nullopt);
  }
}

// Amounts at random times, also earlier ones, next to exact sums.
TEST(HalfLife, OrderIsThatOfTheSums) {
  Rng rng(11);
  const ScoreForm form = Decaying(600);
  SortedSet set;
  ASSERT_TRUE(set.SetForm(form));
  std::map<std::string, long double> sums;  // projected to kNow
  Millis now = kNow;
  for (int step = 0; step < 3000; ++step) {
    now += Millis(static_cast<int64_t>(rng.Below(10'000)) - 2'000);
    const std::string member = "m" + std::to_string(rng.Below(200));
    const double amount = static_cast<double>(1 + rng.Below(1'000'000)) / 1000;
    const uint64_t added = *form.Code(amount, now);
    const std::optional<double> present = set.Score(member);
    set.Place(member, present ? *form.SumOfScores(ScoreCode(*present), added) : added);
    sums[member] += amount * std::exp2(static_cast<long double>((now - kNow).count()) / 600'000);
  }
  long double last = 0;
  const long double decayed = std::exp2(-static_cast<long double>((now - kNow).count()) / 600'000);
  for (auto at = set.At(0); at.valid(); at.Next()) {
    const long double sum = sums[std::string(at.member())] * decayed;
    EXPECT_NEAR(form.half_life().Shown(at.score(), now) / sum, 1, 1e-10);
    EXPECT_GE(sum, last * (1 - 1e-10L));
    last = sum;
  }
}

TEST(HalfLife, SetsOfOneHalfLifeCombine) {
  const SortedSet a = SetOf(60, {{"x", 1}, {"y", 2}}), b = SetOf(60, {{"y", 3}});
  const std::vector<WeightedSet> inputs = {{.set = &a}, {.set = &b}};
  const auto sum = CombineFormed(SetOperation::kUnion, inputs, Aggregate::kSum);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->form().half_life().Shown(*sum->Score("y"), kNow), 5);
  EXPECT_EQ(sum->form().half_life().Shown(*sum->Score("x"), kNow), 1);
  EXPECT_TRUE(CombineFormed(SetOperation::kIntersection, inputs, Aggregate::kMin));
  EXPECT_FALSE(CombineFormed(SetOperation::kUnion, inputs, Aggregate::kCount));
  EXPECT_TRUE(CombineFormed(SetOperation::kDifference, inputs, Aggregate::kCount));
}

}  // namespace
}  // namespace zsetd::half_life_test
