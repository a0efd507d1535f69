#include "bench/load/schedule.h"

#include <gtest/gtest.h>

namespace zsetd {
namespace {

using std::chrono::seconds;

TEST(Schedule, KeepsItsRateHoweverLateItIs) {
  const TimePoint start{};
  const Schedule schedule(10, start);
  for (const TimePoint now : {start, start + seconds(7)}) {
    EXPECT_EQ(schedule.DueAt(0, now), start);
    EXPECT_EQ(schedule.DueAt(20, now), start + seconds(2));
  }
}

TEST(Schedule, WithoutARateEveryRequestIsDueImmediately) {
  const TimePoint start{}, now = start + seconds(5);
  EXPECT_EQ(Schedule(0, start).DueAt(20, now), now);
}

}  // namespace
}  // namespace zsetd
