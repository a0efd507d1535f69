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
            "\"points\":[[110.000,25.0000,50.0000,99.0000,700.0000,0.0000,0.0000,3.0000,0.7500,"
            "0.0000,0.2500,0.0000,0.0000,8.0000]]}");
}

TEST(FigureHistory, MissingFiguresAreNullAndResetCountersAreZero) {
  FigureHistory history;
  HistorySample first = SampleAt(std::chrono::seconds(1), "total_commands_processed:10\r\n");
  first.latency.Record(Micros(9));
  history.Add(first);
  history.Add(SampleAt(std::chrono::seconds(2), "total_commands_processed:3\r\n"));
  EXPECT_EQ(PointsOf(history),
            "\"points\":[[2.000,0.0000,null,null,0.0000,0.0000,0.0000,0.0000,null,0.0000,0.0000,"
            "0.0000,0.0000,0.0000]]}");
}

TEST(FigureHistory, KeepsTheNewestPoints) {
  FigureHistory history;
  for (size_t i = 0; i < FigureHistory::kMostPoints + 6; ++i) {
    history.Add(SampleAt(std::chrono::seconds(10 * i), ""));
  }
  const std::string points = PointsOf(history);
  EXPECT_TRUE(points.starts_with("\"points\":[[60.000,")) << points.substr(0, 100);
  EXPECT_EQ(std::ranges::count(points, '['), FigureHistory::kMostPoints + 1);
}

}  // namespace
}  // namespace zsetd
