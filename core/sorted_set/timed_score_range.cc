#include "core/sorted_set/timed_score_range.h"

#include <cmath>
#include <limits>

#include "core/sorted_set/sorted_set.h"

namespace zsetd {
namespace {

using Clock = TimedScoreBound::Clock;

double ScoreAt(Clock clock, Millis now) {
  const auto millis = static_cast<double>(now.count());
  return clock == Clock::kSeconds ? millis / 1000 : millis;
}

bool Reaches(const TimedScoreBound& bound, Millis now, double score) {
  const double end = ScoreAt(bound.clock, now);
  return bound.exclusive ? end > score : end >= score;
}

// The first instant at which the upper end reaches the score; nullopt if it never does. A score in
// seconds is rarely a multiple of a millisecond, so several instants are tried to handle rounding.
std::optional<Millis> FirstReach(const TimedScoreBound& bound, double score) {
  constexpr double kLatest = 1e15;  // ms, 30,000 years
  const double millis = std::floor(bound.clock == Clock::kSeconds ? score * 1000 : score);
  if (std::abs(millis) > kLatest) return std::nullopt;
  Millis first(static_cast<Millis::rep>(millis) - 1);
  while (!Reaches(bound, first, score)) ++first;
  return first;
}

}  // namespace

ScoreBound TimedScoreBound::At(Millis now) const {
  return {.score = clock == Clock::kNone ? score : ScoreAt(clock, now), .exclusive = exclusive};
}

std::optional<Millis> TimedScoreRange::NextReach(const SortedSet& set, Millis now) const {
  if (max.clock == Clock::kNone) return std::nullopt;
  const ScoreBound infinite = {.score = std::numeric_limits<double>::infinity()};
  const ScoreBound end = max.At(now);
  const RankRange above = set.Ranks(
      ScoreRange{.min = {.score = end.score, .exclusive = !end.exclusive}, .max = infinite});
  if (above.empty()) return std::nullopt;
  return FirstReach(max, set.At(above.first).score());
}

}  // namespace zsetd
