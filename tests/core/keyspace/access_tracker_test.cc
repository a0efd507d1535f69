#include "core/keyspace/access_tracker.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "core/keyspace/value.h"

namespace zsetd::access_tracker_test {
namespace {

using std::chrono::seconds;

constexpr Millis kNow{1'800'000'000'000};

class UseMeterTest : public testing::Test {
 protected:
  void Pass(Millis time) { meter_.AdvanceTo(now_ += time); }
  void CountUses(int64_t log_factor, int64_t decay_minutes) {
    meter_.set_rule({.lfu = true, .log_factor = log_factor, .decay_minutes = decay_minutes});
    entry_->set_access_stamp(meter_.OfNewKey());
  }
  void Use(int times) {
    for (int i = 0; i < times; ++i) meter_.RecordAccess(*entry_);
  }
  AccessTracker::Stamp mark() const { return entry_->access_stamp(); }

  void SetUp() override {
    Pass(Millis(0));
    entry_->set_access_stamp(meter_.OfNewKey());
  }

  Rng rng_{1};
  Millis now_ = kNow;
  AccessTracker meter_{rng_};
  std::unique_ptr<Entry> entry_ = Entry::Make("key", ByteString("value"));
};

TEST_F(UseMeterTest, ReportsHowLongAKeyWasIdle) {
  EXPECT_EQ(meter_.IdleTime(mark()), seconds(0));
  Pass(std::chrono::hours(24 * 150));
  EXPECT_EQ(meter_.IdleTime(mark()), std::chrono::hours(24 * 150)) << "across the wrap";
  Use(1);
  EXPECT_EQ(meter_.IdleTime(mark()), seconds(0));
}

TEST_F(UseMeterTest, MarksAnIdleTime) {
  EXPECT_EQ(meter_.IdleTime(meter_.OfIdle(seconds(1000))), seconds(1000));
  EXPECT_EQ(meter_.IdleTime(meter_.OfIdle(seconds::max())), seconds(0xffffff)) << "the longest";
}

TEST_F(UseMeterTest, CountsEachUseWithAFactorOfZero) {
  CountUses(0, 1);
  EXPECT_EQ(meter_.Count(mark()), 5) << "a new key";
  Use(10);
  EXPECT_EQ(meter_.Count(mark()), 15);
  Use(1'000);
  EXPECT_EQ(meter_.Count(mark()), 255) << "the most";
}

// With 1 in 10 * n + 1 for the n-th step, n steps take about 5 * n^2 uses.
TEST_F(UseMeterTest, CountsTheLogarithmOfUses) {
  for (const int uses : {1'000, 10'000, 100'000}) {
    CountUses(10, 1);
    Use(uses);
    const double expected = 5 + std::sqrt(uses / 5.0);
    EXPECT_NEAR(meter_.Count(mark()), expected, expected / 4) << uses;
  }
}

TEST_F(UseMeterTest, CountsFade) {
  CountUses(0, 2);
  Use(100);
  Pass(std::chrono::minutes(20));
  EXPECT_EQ(meter_.Count(mark()), 95);
  EXPECT_EQ(meter_.Count(mark()), 95) << "to look is no use";
  Use(1);
  EXPECT_EQ(meter_.Count(mark()), 96) << "it had faded first";
  Pass(std::chrono::hours(20));
  EXPECT_EQ(meter_.Count(mark()), 0);
}

TEST_F(UseMeterTest, CountsStayIfFadingIsOff) {
  CountUses(0, 0);
  Pass(std::chrono::hours(20));
  EXPECT_EQ(meter_.Count(mark()), 5);
}

TEST_F(UseMeterTest, RanksTheLeastUsedKeyHighest) {
  EXPECT_GT(meter_.EvictionRank(meter_.OfIdle(seconds(9))),
            meter_.EvictionRank(meter_.OfIdle(seconds(8))));
  CountUses(10, 1);
  EXPECT_GT(meter_.EvictionRank(meter_.OfCount(1)), meter_.EvictionRank(meter_.OfCount(2)));
}

}  // namespace
}  // namespace zsetd::access_tracker_test
