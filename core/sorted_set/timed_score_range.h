#pragma once

#include <compare>
#include <optional>
#include <string>

#include "core/sorted_set/form/score_form.h"
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

  // The text of a bound that `score` may not represent exactly: a tuple, or a number that is large
  // or has many digits. A tuple has no meaning for a set without a form; `score` is 0.
  std::string exact = {};
  bool is_tuple = false;

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

  // Whether the bounds have a meaning for the form of the set's scores.
  bool Suits(const SortedSet& set, Millis now) const;

  // The elements of the set in the range at that time; none if the range does not suit the set.
  // O(log n).
  RankRange RanksIn(const SortedSet& set, Millis now) const;

  // For a set without a form.
  ScoreRange At(Millis now) const { return {.min = min.At(now), .max = max.At(now)}; }

  // The first instant after `now` at which the range reaches an element of the set above its
  // present upper end; nullopt without such an element, or if that end does not advance. O(log n).
  std::optional<Millis> NextReach(const SortedSet& set, Millis now) const;

  std::partial_ordering operator<=>(const TimedScoreRange&) const = default;

 private:
  std::optional<CodeRange> CodesIn(const SortedSet& set, Millis now) const;
  std::optional<Millis> NextReachOfForm(const SortedSet& set, Millis now) const;
};

}  // namespace zsetd
