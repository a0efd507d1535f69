#include "server/http/figure_history.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "server/http/info_fields.h"

namespace zsetd {
namespace {

constexpr float kNoFigure = std::numeric_limits<float>::quiet_NaN();

constexpr std::array<std::string_view, 13> kColumnNames = {
    "commands", "p50",  "p99", "used", "resident", "connected", "blocked",
    "hits",     "loop", "cpu", "in",   "out",      "lag"};

double FigureAt(const InfoFields& fields, std::string_view name) {
  return FigureOf(FieldOf(fields, name)).value_or(0);
}

// Returns the time within which this share of the samples after `before` stayed, or NaN without
// such samples. CONFIG RESETSTAT may have removed samples in the meantime. O(counts * log(time)).
float PercentileBetween(double share, const LatencyHistogram& before, const LatencyHistogram& now) {
  if (now.count() <= before.count()) return kNoFigure;
  const auto total = static_cast<double>(now.count() - before.count());
  int64_t low = 0;
  int64_t high = now.Percentile(100).count();
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const double since = static_cast<double>(now.CountUpTo(Micros(middle))) -
                         static_cast<double>(before.CountUpTo(Micros(middle)));
    if (since >= share * total) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return static_cast<float>(low);
}

void AppendNumber(std::string& out, double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
  out.append(text, end.ptr);
}

}  // namespace

void FigureHistory::Add(HistorySample sample) {
  if (last_ && sample.on_clock > last_->on_clock) {
    if (points_.size() == kMostPoints) points_.pop_front();
    points_.push_back({sample.at, FiguresOf(*last_, sample)});
  }
  last_ = std::move(sample);
}

FigureHistory::Figures FigureHistory::FiguresOf(const HistorySample& before,
                                                const HistorySample& now) {
  static_assert(kColumnNames.size() == kColumns);
  const InfoFields old_fields = FieldsOf(before.info);
  const InfoFields fields = FieldsOf(now.info);
  const double seconds = static_cast<double>((now.on_clock - before.on_clock).count()) * 1e-6;
  // CONFIG RESETSTAT sets counters to 0.
  const auto grown = [&](std::string_view name) {
    return std::max(0.0, FigureAt(fields, name) - FigureAt(old_fields, name));
  };
  const double hits = grown("keyspace_hits");
  const double lookups = hits + grown("keyspace_misses");
  const auto value = [&](std::string_view name) {
    return static_cast<float>(FigureAt(fields, name));
  };
  const auto rate = [&](double growth) { return static_cast<float>(growth / seconds); };
  return {rate(grown("total_commands_processed")),
          PercentileBetween(0.5, before.latency, now.latency),
          PercentileBetween(0.99, before.latency, now.latency),
          value("used_memory"),
          value("used_memory_rss"),
          value("connected_clients"),
          value("blocked_clients"),
          lookups > 0 ? static_cast<float>(hits / lookups) : kNoFigure,
          rate(grown("eventloop_duration_sum") * 1e-6),
          rate(grown("used_cpu_user") + grown("used_cpu_sys")),
          rate(grown("total_net_input_bytes")),
          rate(grown("total_net_output_bytes")),
          value("expiry_lag_usec")};
}

std::string FigureHistory::Json() const {
  std::string json = "{\"columns\":[";
  for (const std::string_view name : kColumnNames) {
    if (json.back() != '[') json += ',';
    json.append("\"").append(name).append("\"");
  }
  json += "],\"points\":[";
  for (const Point& point : points_) {
    if (json.back() != '[') json += ',';
    json += '[';
    AppendNumber(json, static_cast<double>(point.at.count()) * 1e-6, 3);
    for (const float figure : point.figures) {
      json += ',';
      if (std::isnan(figure)) {
        json += "null";
      } else {
        AppendNumber(json, figure, 4);
      }
    }
    json += ']';
  }
  return json + "]}";
}

}  // namespace zsetd
