#include "server/net/ticker.h"

#include <gtest/gtest.h>

#include "core/keyspace/value.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

class TickerTest : public testing::Test {
 protected:
  static Settings WithHz(int64_t hz) {
    Settings settings;
    settings.hz = hz;
    return settings;
  }

  Engine engine_{WithHz(10), {}, /*seed=*/1, UnixNow(), Host{.stopwatch = MonotonicNow}};
  Ticker ticker_{engine_};
};

TEST_F(TickerTest, TicksFirstImmediatelyAndThenAtTheSetRate) {
  const Micros left = ticker_.TickIfDue(MonotonicNow());
  EXPECT_GT(left, Millis(0));
  EXPECT_LE(left, Millis(100));
  ASSERT_TRUE(engine_.Configure(WithHz(500)).ok());
  EXPECT_LE(ticker_.TickIfDue(MonotonicNow()), Millis(2));
}

TEST_F(TickerTest, TicksWhenAKeyExpires) {
  ticker_.TickIfDue(MonotonicNow());
  Database& database = engine_.store().database(0);
  database.Put("due", ByteString("value"), KeyEvent::kSet, UnixNow());
  ticker_.TickIfDue(MonotonicNow());
  EXPECT_EQ(database.keys().size(), 0);
}

// Repeats if the thread did not run until the key was due.
TEST_F(TickerTest, IsNotLateByTheRestOfAMillisecond) {
  ticker_.TickIfDue(MonotonicNow());
  for (Millis deadline(0); deadline <= UnixNow();) {
    deadline = UnixNow() + Millis(50);
    engine_.store().database(0).Put("due", ByteString("value"), KeyEvent::kSet, deadline);
    const Micros at_most = deadline - UnixNowExactly();
    const Micros left = ticker_.TickIfDue(MonotonicNow());
    if (deadline <= UnixNow()) continue;
    EXPECT_LE(left, at_most);
    EXPECT_GE(left, deadline - UnixNowExactly());
  }
}

TEST_F(TickerTest, NoticesADeadlineOnceIfItIsEarlier) {
  ticker_.TickIfDue(MonotonicNow());
  EXPECT_FALSE(ticker_.HasEarlierDeadline());
  Database& database = engine_.store().database(0);
  const Millis now = UnixNow();
  database.Put("late", ByteString("value"), KeyEvent::kSet, now + Millis(9000));
  EXPECT_TRUE(ticker_.HasEarlierDeadline());
  EXPECT_FALSE(ticker_.HasEarlierDeadline());
  database.Put("later", ByteString("value"), KeyEvent::kSet, now + Millis(10000));
  EXPECT_FALSE(ticker_.HasEarlierDeadline());
  database.Put("early", ByteString("value"), KeyEvent::kSet, now + Millis(8000));
  EXPECT_TRUE(ticker_.HasEarlierDeadline());
  ticker_.TimeLeft(MonotonicNow());
  EXPECT_FALSE(ticker_.HasEarlierDeadline());
}

}  // namespace
}  // namespace zsetd
