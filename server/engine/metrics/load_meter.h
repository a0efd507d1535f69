#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/util/time.h"
#include "server/engine/metrics/stats.h"

namespace zsetd {

// How fast a count grows, over its last samples. Their times are those of the stopwatch.
class RateMeter {
 public:
  void Sample(Millis now, uint64_t count);

  // 0 until there are two samples.
  uint64_t PerSecond() const;

 private:
  struct Reading {
    Millis at{0};
    uint64_t count = 0;
  };

  std::array<Reading, 16> readings_;
  size_t taken_ = 0;  // readings, ever; the newest is the one before it in the ring
};

// The load of the server: rates over the last one and a half seconds, and the peak of memory in the
// samples.
class LoadMeter {
 public:
  LoadMeter();

  // Must be called often; samples at most ten times a second. `uncounted_bytes` are allocated and
  // do not count as used.
  void Sample(Millis now, const Stats& stats, size_t uncounted_bytes);

  // Allocated bytes that were reported between two samples: a reported peak stays one.
  void NoteUsed(size_t bytes) { peak_bytes_ = std::max(peak_bytes_, bytes); }

  // Restarts the counts. The peak of memory stays.
  void Reset();

  uint64_t commands_per_second() const { return commands_.PerSecond(); }
  uint64_t input_bytes_per_second() const { return input_bytes_.PerSecond(); }
  uint64_t output_bytes_per_second() const { return output_bytes_.PerSecond(); }
  uint64_t rounds_per_second() const { return rounds_.PerSecond(); }
  Micros time_per_round() const;  // 0 without rounds

  // Allocated bytes: at the start, and at their peak.
  size_t startup_bytes() const { return startup_bytes_; }
  size_t peak_bytes() const { return peak_bytes_; }

 private:
  RateMeter commands_;
  RateMeter input_bytes_;
  RateMeter output_bytes_;
  RateMeter rounds_;
  RateMeter round_time_;  // in microseconds
  Millis sampled_at_{0};
  size_t startup_bytes_;
  size_t peak_bytes_;
};

}  // namespace zsetd
