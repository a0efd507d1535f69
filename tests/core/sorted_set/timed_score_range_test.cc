#include "core/sorted_set/timed_score_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"

namespace zsetd::timed_score_range_test {
namespace {

using Clock = TimedScoreBound::Clock;

constexpr Millis kNow{1'700'000'000'250};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TimedScoreRange Until(Clock clock, bool exclusive = false) {
  return {.min = {.score = -kInfinity}, .max = {.exclusive = exclusive, .clock = clock}};
}

std::optional<Millis> NextReach(const TimedScoreRange& range, double score) {
  SortedSet set;
  set.Set("past", 5);
  set.Set("next", score);
  set.Set("last", kInfinity);
  return range.NextReach(set, kNow);
}

TEST(TimedScoreRange, TheEndMovesWithTheTime) {
  EXPECT_EQ(Until(Clock::kSeconds).At(kNow).max.score, 1'700'000'000.25);
  EXPECT_EQ(Until(Clock::kMillis).At(kNow).max.score, 1'700'000'000'250.0);
  EXPECT_FALSE(TimedScoreRange().IsTimed());
  EXPECT_TRUE(Until(Clock::kMillis).IsTimed());
}

TEST(TimedScoreRange, ReachesTheElementAboveItsEndNext) {
  EXPECT_EQ(NextReach(Until(Clock::kSeconds), 1'700'000'000.5), Millis(1'700'000'000'500));
  EXPECT_EQ(NextReach(Until(Clock::kSeconds, true), 1'700'000'000.5), Millis(1'700'000'000'501));
  EXPECT_EQ(NextReach(Until(Clock::kMillis), 1'700'000'000'500), Millis(1'700'000'000'500));
  EXPECT_EQ(NextReach(Until(Clock::kMillis), 1'700'000'000'499.5), Millis(1'700'000'000'500));
  EXPECT_EQ(NextReach(Until(Clock::kMillis, true), 1'700'000'000'500), Millis(1'700'000'000'501));
}

TEST(TimedScoreRange, AnElementAtTheEndIsReachedAlreadyUnlessTheEndIsExclusive) {
  EXPECT_EQ(NextReach(Until(Clock::kMillis), 1'700'000'000'250), std::nullopt);
  EXPECT_EQ(NextReach(Until(Clock::kMillis, true), 1'700'000'000'250), Millis(1'700'000'000'251));
}

TEST(TimedScoreRange, NeverReachesScoresBeyondAnyClock) {
  EXPECT_EQ(NextReach(Until(Clock::kSeconds), kInfinity), std::nullopt);
  EXPECT_EQ(NextReach(Until(Clock::kMillis), 1e300), std::nullopt);
  EXPECT_EQ(Until(Clock::kMillis).NextReach(SortedSet(), kNow), std::nullopt);
  EXPECT_EQ(NextReach({.max = {.score = 10}}, 20), std::nullopt);
}

// However a score in seconds is rounded, it enters the range at that moment and not before.
TEST(TimedScoreRange, ReachesAnElementInTheFirstMillisecondThatFindsIt) {
  Rng rng(1);
  for (int i = 0; i < 10000; ++i) {
    const TimedScoreRange range =
        Until(rng.Below(2) == 0 ? Clock::kSeconds : Clock::kMillis, rng.Below(2) == 0);
    const double scale = range.max.clock == Clock::kSeconds ? 1000 : 1;
    double score = static_cast<double>(kNow.count() + 1 + rng.Below(100000)) / scale;
    if (rng.Below(3) == 0) score = std::nextafter(score, rng.Below(2) == 0 ? 0 : kInfinity);
    SortedSet set;
    set.Set("x", score);
    const std::optional<Millis> reached = range.NextReach(set, kNow);
    ASSERT_TRUE(reached) << score;
    EXPECT_EQ(set.Ranks(range.At(*reached)).size(), 1u) << score;
    EXPECT_TRUE(set.Ranks(range.At(*reached - Millis(1))).empty()) << score;
  }
}

}  // namespace
}  // namespace zsetd::timed_score_range_test
