#include "server/http/figure_history.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
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

// The number of digits after the point in JSON; a time has tenths of a millisecond.
constexpr int kDecimalPlaces = 4;

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

}  // namespace

void FigureHistory::Add(HistorySample sample) {
  const Micros at = sample.at;
  Reading reading = Read(std::move(sample));
  if (last_ && reading.on_clock > last_->on_clock) {
    if (points_.size() == kMostPoints) points_.pop_front();
    points_.push_back({at, FiguresOf(*last_, reading)});
  }
  last_ = std::move(reading);
}

FigureHistory::Reading FigureHistory::Read(HistorySample sample) {
  const InfoFields fields = FieldsOf(sample.info);
  const auto figure = [&](std::string_view name) {
    return FigureOf(FieldOf(fields, name)).value_or(0);
  };
  const auto gauge = [&](std::string_view name) { return static_cast<float>(figure(name)); };
  return {.on_clock = sample.on_clock,
          .latency = std::move(sample.latency),
          .commands = figure("total_commands_processed"),
          .hits = figure("keyspace_hits"),
          .misses = figure("keyspace_misses"),
          .busy_us = figure("eventloop_duration_sum"),
          .cpu_s = figure("used_cpu_user") + figure("used_cpu_sys"),
          .bytes_in = figure("total_net_input_bytes"),
          .bytes_out = figure("total_net_output_bytes"),
          .used_memory = gauge("used_memory"),
          .resident_memory = gauge("used_memory_rss"),
          .connected_clients = gauge("connected_clients"),
          .blocked_clients = gauge("blocked_clients"),
          .expiry_lag_us = gauge("expiry_lag_usec")};
}

FigureHistory::Figures FigureHistory::FiguresOf(const Reading& before, const Reading& now) {
  static_assert(kColumnNames.size() == kColumns);
  const double seconds = static_cast<double>((now.on_clock - before.on_clock).count()) * 1e-6;
  // CONFIG RESETSTAT sets counters to 0.
  const auto growth = [](double was, double is) { return std::max(0.0, is - was); };
  const auto rate = [&](double was, double is) {
    return static_cast<float>(growth(was, is) / seconds);
  };
  const double hits = growth(before.hits, now.hits);
  const double lookups = hits + growth(before.misses, now.misses);
  return {rate(before.commands, now.commands),
          PercentileBetween(0.5, before.latency, now.latency),
          PercentileBetween(0.99, before.latency, now.latency),
          now.used_memory,
          now.resident_memory,
          now.connected_clients,
          now.blocked_clients,
          lookups > 0 ? static_cast<float>(hits / lookups) : kNoFigure,
          rate(before.busy_us * 1e-6, now.busy_us * 1e-6),
          rate(before.cpu_s, now.cpu_s),
          rate(before.bytes_in, now.bytes_in),
          rate(before.bytes_out, now.bytes_out),
          now.expiry_lag_us};
}

std::string FigureHistory::Json() const {
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> json(text);
  json.SetMaxDecimalPlaces(kDecimalPlaces);
  json.StartObject();
  json.Key("columns");
  json.StartArray();
  for (const std::string_view name : kColumnNames) json.String(name.data(), name.size());
  json.EndArray();
  json.Key("points");
  json.StartArray();
  for (const Point& point : points_) {
    json.StartArray();
    json.Double(static_cast<double>(point.at.count()) * 1e-6);
    for (const float figure : point.figures) {
      if (std::isnan(figure)) {
        json.Null();
      } else {
        json.Double(figure);
      }
    }
    json.EndArray();
  }
  json.EndArray();
  json.EndObject();
  return {text.GetString(), text.GetSize()};
}

}  // namespace zsetd
