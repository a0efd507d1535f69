#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/util/time.h"
#include "server/engine/support/stats.h"

namespace zsetd {

// How fast a count grows, over its last samples.
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

// How busy the server is and has been: rates over the last second and a half, and the most memory
// that a sample saw.
class LoadMeter {
 public:
  LoadMeter();

  // To be called often; looks ten times a second at most.
  void Sample(Millis now, const Stats& stats);

  // Bytes that somebody saw handed out between two samples: a peak that was told once stays one.
  void NoteUsed(size_t bytes) { peak_bytes_ = std::max(peak_bytes_, bytes); }

  // The counts begin anew. The peak of memory stays.
  void Reset();

  uint64_t commands_per_second() const { return commands_.PerSecond(); }
  uint64_t input_bytes_per_second() const { return input_bytes_.PerSecond(); }
  uint64_t output_bytes_per_second() const { return output_bytes_.PerSecond(); }

  // Bytes that the allocator had handed out: at the start, and at most.
  size_t startup_bytes() const { return startup_bytes_; }
  size_t peak_bytes() const { return peak_bytes_; }

 private:
  RateMeter commands_;
  RateMeter input_bytes_;
  RateMeter output_bytes_;
  Millis sampled_at_{0};
  size_t startup_bytes_;
  size_t peak_bytes_;
};

}  // namespace zsetd
