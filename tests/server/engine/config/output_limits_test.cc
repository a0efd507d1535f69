#include "server/engine/config/output_limits.h"

#include <gtest/gtest.h>

#include "server/engine/client/output_watch.h"

namespace zsetd::output_limits_test {
namespace {

constexpr OutputLimit kLimit = {.hard_bytes = 100, .soft_bytes = 10, .soft_seconds = 2};

// Returns a stopwatch that shows this time.
OutputWatch::Stopwatch At(int64_t millis) {
  return [millis] { return Micros(Millis(millis)); };
}

TEST(OutputWatch, HardLimitAppliesImmediately) {
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(kLimit, 100, At(0)));
  EXPECT_TRUE(watch.Exceeds(kLimit, 101, At(0)));
}

TEST(OutputWatch, SoftLimitAppliesAfterItsTime) {
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(kLimit, 11, At(5000)));
  EXPECT_FALSE(watch.Exceeds(kLimit, 90, At(7000)));
  EXPECT_TRUE(watch.Exceeds(kLimit, 11, At(7001)));
}

TEST(OutputWatch, OnlyContinuousTimeAboveTheSoftLimitCounts) {
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(kLimit, 11, At(0)));
  EXPECT_FALSE(watch.Exceeds(kLimit, 10, At(1000)));
  EXPECT_FALSE(watch.Exceeds(kLimit, 11, At(2500)));
  EXPECT_FALSE(watch.Exceeds(kLimit, 11, At(4500)));
  EXPECT_TRUE(watch.Exceeds(kLimit, 11, At(4501)));
}

TEST(OutputWatch, ASoftLimitWithoutTimeIsNoHardLimit) {
  constexpr OutputLimit kNoTime = {.hard_bytes = 100, .soft_bytes = 10, .soft_seconds = 0};
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(kNoTime, 11, At(5000)));
  EXPECT_TRUE(watch.Exceeds(kNoTime, 11, At(5001)));
}

TEST(OutputWatch, TheLongestTimeIsNoShortOne) {
  constexpr OutputLimit kPatient = {.hard_bytes = 0, .soft_bytes = 10, .soft_seconds = INT64_MAX};
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(kPatient, 11, At(0)));
  EXPECT_FALSE(watch.Exceeds(kPatient, 11, At(1'000'000)));
}

TEST(OutputWatch, ZeroIsNoLimit) {
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(OutputLimit(), size_t{1} << 40, At(0)));
  EXPECT_FALSE(watch.Exceeds(OutputLimit(), size_t{1} << 40, At(1000000)));
}

}  // namespace
}  // namespace zsetd::output_limits_test
