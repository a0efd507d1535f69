#pragma once

#include <compare>
#include <optional>

#include "core/util/range.h"
#include "core/util/time.h"

namespace zsetd {

class SortedSet;

// One end of a range of scores: a score, or the present Unix time as a score.
struct TimedScoreBound {
  enum class Clock {
    kNone,     // `score`
    kSeconds,  // with a fraction: at 1,700,000,000,250 ms it is 1700000000.25
    kMillis,
  };

  double score = 0;  // not NaN; 0 if there is a clock
  bool exclusive = false;
  Clock clock = Clock::kNone;

  ScoreBound At(Millis now) const;

  // Compares requests, not their results.
  std::partial_ordering operator<=>(const TimedScoreBound&) const = default;
};

// A range of scores whose ends may advance with the time.
struct TimedScoreRange {
  TimedScoreBound min;
  TimedScoreBound max;

  bool IsTimed() const {
    return min.clock != TimedScoreBound::Clock::kNone || max.clock != TimedScoreBound::Clock::kNone;
  }
  ScoreRange At(Millis now) const { return {.min = min.At(now), .max = max.At(now)}; }

  // The first instant after `now` at which the range reaches an element of the set above its
  // present upper end; nullopt without such an element, or if that end does not advance. O(log n).
  std::optional<Millis> NextReach(const SortedSet& set, Millis now) const;

  std::partial_ordering operator<=>(const TimedScoreRange&) const = default;
};

}  // namespace zsetd
