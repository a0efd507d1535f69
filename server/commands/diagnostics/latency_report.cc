#include "server/commands/diagnostics/latency_report.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

constexpr std::string_view kMarks = "_o#";  // from low to high within a row
constexpr int64_t kRows = 4;
constexpr size_t kRuleWidth = 80;

std::string MillisText(Millis time) { return IntegerText(time.count()) + " ms"; }

struct Bounds {
  Millis low;
  Millis high;
};

Bounds BoundsOf(const LatencySeries& series) {
  assert(!series.samples.empty());
  const auto [low, high] = std::ranges::minmax(
      series.samples, {}, [](const LatencySample& sample) { return sample.took; });
  return {low.took, high.took};
}

// Returns the height of the sample, from 0 to the number of marks in all rows minus one.
int64_t LevelOf(const LatencySample& sample, const Bounds& bounds) {
  assert(bounds.low <= sample.took && sample.took <= bounds.high);
  const int64_t levels = kRows * static_cast<int64_t>(kMarks.size());
  const int64_t range = std::max<int64_t>((bounds.high - bounds.low).count(), 1);
  return (sample.took - bounds.low).count() * (levels - 1) / range;
}

char MarkAt(int64_t row, int64_t level) {
  const auto marks = static_cast<int64_t>(kMarks.size());
  if (level / marks > row) return '|';
  return level / marks == row ? kMarks[static_cast<size_t>(level % marks)] : ' ';
}

// Returns a text such as "42s", "7m", "3h" or "2d".
std::string Age(int64_t seconds) {
  if (seconds < 60) return IntegerText(seconds) + "s";
  if (seconds < 60 * 60) return IntegerText(seconds / 60) + "m";
  if (seconds < 24 * 60 * 60) return IntegerText(seconds / (60 * 60)) + "h";
  return IntegerText(seconds / (24 * 60 * 60)) + "d";
}

std::string Bars(const LatencySeries& series) {
  const Bounds bounds = BoundsOf(series);
  std::string text;
  for (int64_t row = kRows - 1; row >= 0; --row) {
    for (const LatencySample& sample : series.samples) {
      text += MarkAt(row, LevelOf(sample, bounds));
    }
    text += '\n';
  }
  return text;
}

std::string Ages(const LatencySeries& series, Millis now) {
  std::vector<std::string> ages;
  size_t longest = 0;
  for (const LatencySample& sample : series.samples) {
    ages.push_back(Age(std::max<int64_t>(now.count() / 1000 - sample.second, 0)));
    longest = std::max(longest, ages.back().size());
  }
  std::string text;
  for (size_t row = 0; row < longest; ++row) {
    for (const std::string& age : ages) text += row < age.size() ? age[row] : ' ';
    text += '\n';
  }
  return text;
}

// Statistics of a series.
struct Summary {
  int64_t average = 0;         // milliseconds
  int64_t mean_deviation = 0;  // the mean distance from the average
  double period_s = 0;         // the mean time between two spikes
};

Summary Summarize(const LatencySeries& series, Millis now) {
  const auto count = static_cast<int64_t>(series.samples.size());
  Summary summary;
  for (const LatencySample& sample : series.samples) summary.average += sample.took.count();
  summary.average /= count;
  for (const LatencySample& sample : series.samples) {
    summary.mean_deviation += std::abs(sample.took.count() - summary.average);
  }
  summary.mean_deviation /= count;
  const int64_t since = now.count() / 1000 - series.samples.front().second;
  summary.period_s = static_cast<double>(std::max<int64_t>(since, 0)) / static_cast<double>(count);
  return summary;
}

std::string Finding(std::string_view event, const LatencySeries& series, Millis now) {
  const Summary summary = Summarize(series, now);
  return std::string(event) + ": " + IntegerText(static_cast<int64_t>(series.samples.size())) +
         " samples, " + IntegerText(summary.average) + " ms on average (mean deviation " +
         IntegerText(summary.mean_deviation) + " ms), one every " + FixedText(summary.period_s, 2) +
         " s. Worst ever: " + MillisText(series.worst) + ".\n";
}

// Advice about slow commands.
std::string CommandAdvice(const Engine& engine) {
  const Settings& settings = engine.settings();
  constexpr int64_t kMost_ms = std::numeric_limits<int64_t>::max() / 1000;
  const int64_t threshold_us = std::min(settings.latency_monitor_threshold, kMost_ms) * 1000;
  std::string advice = "- Check SLOWLOG GET for the slow commands and their arguments.\n";
  if (settings.slowlog_log_slower_than < 0 || settings.slowlog_log_slower_than > threshold_us) {
    advice +=
        "- The slow log does not record all of them: use CONFIG SET slowlog-log-slower-than " +
        IntegerText(threshold_us) + ".\n";
  }
  return advice + "- Process less data per command: SCAN instead of KEYS, ranges with a LIMIT.\n";
}

std::string ExpiryAdvice() {
  return "- Many or large keys expired at the same time: spread their expiration times.\n";
}

}  // namespace

std::string LatencyGraph(std::string_view event, const LatencySeries& series, Millis now) {
  const Bounds bounds = BoundsOf(series);
  return std::string(event) + " - high " + MillisText(bounds.high) + ", low " +
         MillisText(bounds.low) + " (all time high " + MillisText(series.worst) + ")\n" +
         std::string(kRuleWidth, '-') + "\n" + Bars(series) + "\n" + Ages(series, now);
}

std::string LatencyAdvice(const Engine& engine) {
  if (engine.settings().latency_monitor_threshold == 0) {
    return "Latency monitoring is disabled. Enable it with CONFIG SET latency-monitor-threshold "
           "<milliseconds>.\n";
  }
  const LatencyMonitor::Events& events = engine.metrics().latency().events();
  if (events.empty())
    return "No latency spike was recorded since monitoring was enabled or reset.\n";
  std::string text = "Latency spikes:\n\n";
  int64_t number = 0;
  for (const auto& [event, series] : events) {
    text += IntegerText(++number) + ". " + Finding(event, series, engine.store().now());
  }
  text += "\nAdvice:\n\n";
  if (events.contains("command") || events.contains("fast-command")) text += CommandAdvice(engine);
  if (events.contains("expire-cycle")) text += ExpiryAdvice();
  return text;
}

}  // namespace zsetd
