#include "server/http/figure_history.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace zsetd {
namespace {

HistorySample SampleAt(std::chrono::seconds second, const std::string& info) {
  return {.at = second, .on_clock = second, .info = info, .latency = {}};
}

std::string PointsOf(const FigureHistory& history) {
  const std::string json = history.Json();
  return json.substr(json.find("\"points\":"));
}

TEST(FigureHistory, FirstSampleAddsNoPoint) {
  FigureHistory history;
  history.Add(SampleAt(std::chrono::seconds(1), "used_memory:5\r\n"));
  EXPECT_EQ(PointsOf(history), "\"points\":[]}");
}

TEST(FigureHistory, CountersBecomeRates) {
  FigureHistory history;
  HistorySample first = SampleAt(std::chrono::seconds(100),
                                 "total_commands_processed:1000\r\nkeyspace_hits:1\r\n"
                                 "keyspace_misses:1\r\nused_cpu_user:1.5\r\nused_cpu_sys:1\r\n");
  first.latency.Record(Micros(9));
  HistorySample second = SampleAt(std::chrono::seconds(110),
                                  "total_commands_processed:1250\r\nkeyspace_hits:4\r\n"
                                  "keyspace_misses:2\r\nused_cpu_user:3.5\r\nused_cpu_sys:1.5\r\n"
                                  "used_memory:700\r\nblocked_clients:3\r\nexpiry_lag_usec:8\r\n");
  second.latency = first.latency;
  for (int i = 1; i <= 100; ++i) second.latency.Record(Micros(i));
  history.Add(first);
  history.Add(second);
  EXPECT_EQ(PointsOf(history),
            "\"points\":[[110.0,25.0,50.0,99.0,700.0,0.0,0.0,3.0,0.75,0.0,0.25,0.0,0.0,8.0]]}");
}

TEST(FigureHistory, MissingFiguresAreNullAndResetCountersAreZero) {
  FigureHistory history;
  HistorySample first = SampleAt(std::chrono::seconds(1), "total_commands_processed:10\r\n");
  first.latency.Record(Micros(9));
  history.Add(first);
  history.Add(SampleAt(std::chrono::seconds(2), "total_commands_processed:3\r\n"));
  EXPECT_EQ(PointsOf(history),
            "\"points\":[[2.0,0.0,null,null,0.0,0.0,0.0,0.0,null,0.0,0.0,0.0,0.0,0.0]]}");
}

TEST(FigureHistory, KeepsTheNewestPoints) {
  FigureHistory history;
  for (size_t i = 0; i < FigureHistory::kMostPoints + 6; ++i) {
    history.Add(SampleAt(std::chrono::seconds(10 * i), ""));
  }
  const std::string points = PointsOf(history);
  EXPECT_TRUE(points.starts_with("\"points\":[[60.0,")) << points.substr(0, 100);
  EXPECT_EQ(std::ranges::count(points, '['), FigureHistory::kMostPoints + 1);
}

TEST(FigureHistory, TimesHaveMilliseconds) {
  FigureHistory history;
  history.Add(SampleAt(std::chrono::seconds(1), ""));
  HistorySample sample = SampleAt(std::chrono::seconds(2), "used_memory:123456789012\r\n");
  sample.at = Micros(1'700'000'000'250'000);
  history.Add(sample);
  EXPECT_TRUE(PointsOf(history).starts_with("\"points\":[[1700000000.25,")) << PointsOf(history);
}

}  // namespace
}  // namespace zsetd
