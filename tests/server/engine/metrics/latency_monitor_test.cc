#include "server/engine/metrics/latency_monitor.h"

#include <gtest/gtest.h>

#include <limits>

namespace zsetd {
namespace {

constexpr int64_t kThreshold_ms = 10;

// Reports a command that took that many milliseconds at that second.
void MaybeRecord(LatencyMonitor& monitor, int64_t second, int64_t took) {
  monitor.MaybeRecord("command", Micros(took * 1000), Millis(second * 1000), kThreshold_ms);
}

TEST(LatencyMonitor, RecordsEventsOfTheThresholdOrLonger) {
  LatencyMonitor monitor;
  MaybeRecord(monitor, 1, 9);
  EXPECT_TRUE(monitor.events().empty());
  MaybeRecord(monitor, 2, 10);
  EXPECT_EQ(monitor.events().at("command").samples.size(), 1u);
}

TEST(LatencyMonitor, RecordsNothingBelowTheLongestThreshold) {
  LatencyMonitor monitor;
  monitor.MaybeRecord("command", Micros(1'000'000), Millis(0), std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(monitor.events().empty());
}

TEST(LatencyMonitor, RecordsNothingWithoutAThreshold) {
  LatencyMonitor monitor;
  monitor.MaybeRecord("command", Micros(1'000'000), Millis(0), 0);
  EXPECT_TRUE(monitor.events().empty());
}

TEST(LatencyMonitor, KeepsTheLongestOfEachSecond) {
  LatencyMonitor monitor;
  MaybeRecord(monitor, 1, 20);
  MaybeRecord(monitor, 1, 30);
  MaybeRecord(monitor, 1, 25);
  MaybeRecord(monitor, 2, 11);
  const LatencySeries& series = monitor.events().at("command");
  ASSERT_EQ(series.samples.size(), 2u);
  EXPECT_EQ(series.samples.front().took, Millis(30));
  EXPECT_EQ(series.samples.back().second, 2);
  EXPECT_EQ(series.worst, Millis(30));
}

TEST(LatencyMonitor, KeepsTheLastSamplesAndTheWorstEver) {
  LatencyMonitor monitor;
  MaybeRecord(monitor, 0, 500);
  for (int64_t second = 1; second < 1000; ++second) MaybeRecord(monitor, second, 10);
  const LatencySeries& series = monitor.events().at("command");
  EXPECT_EQ(series.samples.size(), LatencySeries::kSamples);
  EXPECT_EQ(series.samples.back().second, 999);
  EXPECT_EQ(series.worst, Millis(500));
  EXPECT_TRUE(monitor.Reset("command"));
  EXPECT_FALSE(monitor.Reset("command"));
}

}  // namespace
}  // namespace zsetd
