#include "bench/load/results.h"

#include "absl/strings/str_format.h"

namespace zsetd {
namespace {

double Seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

std::string Results::Json(Clock::duration elapsed, Clock::duration cpu) const {
  const auto count = static_cast<double>(answered());
  const auto millis = [&](double percent) {
    return std::chrono::duration<double, std::milli>(latencies_.Percentile(percent)).count();
  };
  return absl::StrFormat(
      R"({"requests": %d, "seconds": %.6f, "requests_per_second": %.1f, "load_cpu_us": %.3f, )"
      R"("p50_ms": %.3f, "p90_ms": %.3f, "p99_ms": %.3f, "p99_9_ms": %.3f, "max_ms": %.3f})",
      answered(), Seconds(elapsed), count / Seconds(elapsed), 1e6 * Seconds(cpu) / count,
      millis(50), millis(90), millis(99), millis(99.9), millis(100));
}

}  // namespace zsetd
