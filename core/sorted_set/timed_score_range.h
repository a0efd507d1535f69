#pragma once

#include <compare>
#include <optional>

#include "core/util/range.h"
#include "core/util/time.h"

namespace zsetd {

class SortedSet;

// One end of a range of scores: a score, or the present Unix time as one.
struct TimedScoreBound {
  enum class Clock {
    kNone,     // `score`
    kSeconds,  // with a fraction: at 1,700,000,000,250 ms it is 1700000000.25
    kMillis,
  };

  double score = 0;  // not NaN; 0 where there is a clock
  bool exclusive = false;
  Clock clock = Clock::kNone;

  ScoreBound At(Millis now) const;

  // For the equality of two requests, not of what they find.
  std::partial_ordering operator<=>(const TimedScoreBound&) const = default;
};

// A range of scores whose ends may move with the time.
struct TimedScoreRange {
  TimedScoreBound min;
  TimedScoreBound max;

  bool IsTimed() const {
    return min.clock != TimedScoreBound::Clock::kNone || max.clock != TimedScoreBound::Clock::kNone;
  }
  ScoreRange At(Millis now) const { return {.min = min.At(now), .max = max.At(now)}; }

  // The first moment after `now` at which the range reaches an element of the set that lies above
  // its upper end now; nothing if there is none or that end stands still. O(log n).
  std::optional<Millis> NextReach(const SortedSet& set, Millis now) const;

  std::partial_ordering operator<=>(const TimedScoreRange&) const = default;
};

}  // namespace zsetd
