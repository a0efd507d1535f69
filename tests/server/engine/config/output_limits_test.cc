#include "server/engine/config/output_limits.h"

#include <gtest/gtest.h>

#include "server/engine/client/output_watch.h"

namespace zsetd::output_limits_test {
namespace {

constexpr OutputLimit kLimit = {.hard_bytes = 100, .soft_bytes = 10, .soft_seconds = 2};

TEST(OutputWatch, HardLimitAppliesImmediately) {
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(kLimit, 100, Millis(0)));
  EXPECT_TRUE(watch.Exceeds(kLimit, 101, Millis(0)));
}

TEST(OutputWatch, SoftLimitAppliesAfterItsTime) {
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(kLimit, 11, Millis(5000)));
  EXPECT_FALSE(watch.Exceeds(kLimit, 90, Millis(6999)));
  EXPECT_TRUE(watch.Exceeds(kLimit, 11, Millis(7000)));
}

TEST(OutputWatch, OnlyContinuousTimeAboveTheSoftLimitCounts) {
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(kLimit, 11, Millis(0)));
  EXPECT_FALSE(watch.Exceeds(kLimit, 10, Millis(1000)));
  EXPECT_FALSE(watch.Exceeds(kLimit, 11, Millis(2500)));
  EXPECT_FALSE(watch.Exceeds(kLimit, 11, Millis(4499)));
  EXPECT_TRUE(watch.Exceeds(kLimit, 11, Millis(4500)));
}

TEST(OutputWatch, ZeroIsNoLimit) {
  OutputWatch watch;
  EXPECT_FALSE(watch.Exceeds(OutputLimit(), size_t{1} << 40, Millis(0)));
  EXPECT_FALSE(watch.Exceeds(OutputLimit(), size_t{1} << 40, Millis(1000000)));
}

}  // namespace
}  // namespace zsetd::output_limits_test
