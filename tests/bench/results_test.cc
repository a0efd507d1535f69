#include "bench/load/results.h"

#include <gtest/gtest.h>

namespace zsetd {
namespace {

TEST(Results, ReportPercentilesAndRate) {
  Results results;
  for (int i = 1; i <= 1000; ++i) results.Record(Micros(i == 1000 ? 90'000 : 100));
  EXPECT_EQ(results.answered(), 1000u);
  EXPECT_EQ(results.Json(std::chrono::seconds(2), Millis(10)),
            R"({"requests": 1000, "seconds": 2.000000, "requests_per_second": 500.0, )"
            R"("load_cpu_us": 10.000, "p50_ms": 0.100, "p90_ms": 0.100, "p99_ms": 0.100, )"
            R"("p99_9_ms": 0.100, "max_ms": 90.111})");
}

}  // namespace
}  // namespace zsetd
