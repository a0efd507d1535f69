#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "core/util/time.h"
#include "server/engine/support/latency_histogram.h"

namespace zsetd {

// The figures of the server at one moment.
struct HistorySample {
  Micros at{0};              // Unix time
  Micros on_clock{0};        // the monotonic clock, from which rates are computed
  std::string info;          // the sections of INFO that kHistorySections names
  LatencyHistogram latency;  // of all commands
};

inline constexpr std::array kHistorySections = {"clients", "memory", "cpu", "stats"};

// An hour of figures for the charts of the page. Points are computed from two successive samples:
// counters become rates, and latencies the percentiles of the interval.
//
// Memory is bounded: 360 points of 13 floats (21 KB), and the figures of the last sample. Belongs
// to one thread.
class FigureHistory {
 public:
  static constexpr size_t kMostPoints = 360;
  static constexpr std::chrono::seconds kInterval{10};

  // Adds the point between the last sample and this one. The first sample adds no point. If all
  // points are in use, the oldest one is dropped.
  void Add(HistorySample sample);

  // {"columns":["commands",...],"points":[[1700000000.5,12,null,...],...]}, the oldest point first.
  // A point begins with its Unix time in seconds. Null is a figure that does not exist, such as a
  // percentile of an interval without commands.
  std::string Json() const;

 private:
  static constexpr size_t kColumns = 13;
  using Figures = std::array<float, kColumns>;  // NaN: does not exist

  // The figures of one sample, read from its text.
  struct Reading {
    Micros on_clock;
    LatencyHistogram latency;
    double commands = 0;
    double hits = 0;
    double misses = 0;
    double busy_us = 0;  // of the event loop
    double cpu_s = 0;
    double bytes_in = 0;
    double bytes_out = 0;
    float used_memory = 0;
    float resident_memory = 0;
    float connected_clients = 0;
    float blocked_clients = 0;
    float expiry_lag_us = 0;
  };

  static Reading Read(HistorySample sample);
  static Figures FiguresOf(const Reading& before, const Reading& now);

  struct Point {
    Micros at;
    Figures figures;
  };
  std::deque<Point> points_;
  std::optional<Reading> last_;
};

}  // namespace zsetd
