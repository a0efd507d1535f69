// The histogram compared with a sorted list of the same times.

#include "server/engine/support/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

// All magnitudes are equally likely.
Micros RandomTime(Rng& rng) { return Micros(rng.Below(uint64_t{1} << rng.Below(40))); }

// Times that differ by less than one part in 128 may share a bucket.
Micros Blurred(Micros time) { return time + time / 128; }

TEST(LatencyHistogram, ReportsShortTimesExactly) {
  LatencyHistogram histogram;
  for (int time = 0; time < 256; ++time) histogram.Record(Micros(time));
  for (int time = 0; time < 256; ++time) {
    EXPECT_EQ(histogram.CountUpTo(Micros(time)), static_cast<uint64_t>(time) + 1);
  }
  EXPECT_EQ(histogram.Percentile(50), Micros(127));
  EXPECT_EQ(histogram.Percentile(100), Micros(255));
  EXPECT_EQ(histogram.Percentile(0), Micros(0));
}

TEST(LatencyHistogram, ReportsNothingWithoutSamples) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.CountUpTo(Micros(1000)), 0u);
  EXPECT_EQ(histogram.Percentile(99), Micros(0));
}

TEST(LatencyHistogram, CountsNoTimeIfTheClockStoppedOrWentBack) {
  LatencyHistogram histogram;
  histogram.Record(Micros(-5));
  EXPECT_EQ(histogram.CountUpTo(Micros(0)), 1u);
}

TEST(LatencyHistogram, ReportsCountsAndPercentilesOfAnyTimes) {
  constexpr uint64_t kSeed = 20264;
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed);
  LatencyHistogram histogram;
  std::vector<Micros> times;
  for (int i = 0; i < 5000; ++i) {
    times.push_back(RandomTime(rng));
    histogram.Record(times.back());
  }
  std::ranges::sort(times);
  for (int i = 0; i < 500; ++i) {
    const Micros time = RandomTime(rng);
    const auto count = [&](Micros most) {
      return static_cast<uint64_t>(std::ranges::upper_bound(times, most) - times.begin());
    };
    EXPECT_GE(histogram.CountUpTo(time), count(time));
    EXPECT_LE(histogram.CountUpTo(time), count(Blurred(time)));
    const uint64_t per_mille = rng.Below(1000) + 1;
    const double percent = static_cast<double>(per_mille) / 10;
    const size_t rank = per_mille * times.size() / 1000;
    EXPECT_GE(histogram.Percentile(percent), times[rank - 1]);
    EXPECT_LE(histogram.Percentile(percent), Blurred(times[rank - 1]));
  }
}

}  // namespace
}  // namespace zsetd
