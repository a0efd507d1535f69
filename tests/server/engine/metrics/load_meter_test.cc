#include "server/engine/metrics/load_meter.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace zsetd {
namespace {

TEST(RateMeter, IsZeroBeforeTheSecondSample) {
  RateMeter meter;
  EXPECT_EQ(meter.PerSecond(), 0u);
  meter.Sample(Millis(1000), 500);
  EXPECT_EQ(meter.PerSecond(), 0u);
}

TEST(RateMeter, ReportsTheGrowthPerSecond) {
  RateMeter meter;
  meter.Sample(Millis(1000), 500);
  meter.Sample(Millis(1500), 600);
  EXPECT_EQ(meter.PerSecond(), 200u);
}

TEST(RateMeter, ForgetsOldSamples) {
  RateMeter meter;
  meter.Sample(Millis(0), 0);
  for (int i = 1; i <= 16; ++i) meter.Sample(Millis(i * 100), 1'000'000);
  EXPECT_EQ(meter.PerSecond(), 0u);
}

TEST(RateMeter, SamplesAtOneTimeAreNoRate) {
  RateMeter meter;
  meter.Sample(Millis(5), 1);
  meter.Sample(Millis(5), 2);
  EXPECT_EQ(meter.PerSecond(), 0u);
}

TEST(LoadMeter, SamplesTenTimesASecond) {
  LoadMeter meter;
  Stats stats;
  meter.Sample(Millis(1000), stats, 0);
  stats.commands_processed = 10;
  meter.Sample(Millis(1099), stats, 0);
  EXPECT_EQ(meter.commands_per_second(), 0u);
  meter.Sample(Millis(1100), stats, 0);
  EXPECT_EQ(meter.commands_per_second(), 100u);
}

TEST(LoadMeter, KeepsThePeakOfMemory) {
  LoadMeter meter;
  constexpr size_t kBytes = 64 << 20;
  auto block = std::make_unique<std::vector<char>>(kBytes, 'x');
  meter.Sample(Millis(1000), Stats(), 0);
  block.reset();
  meter.Sample(Millis(2000), Stats(), 0);
  EXPECT_GE(meter.peak_bytes(), meter.startup_bytes() + kBytes);
}

}  // namespace
}  // namespace zsetd
