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

// The text of a score of a set with a form; nullopt if the bound is only a number.
std::optional<std::string> TextOf(const TimedScoreBound& bound, const ScoreForm& form) {
  if (!bound.exact.empty()) return bound.exact;
  const bool is_integer = bound.score >= 0 && std::trunc(bound.score) == bound.score;
  if (form.kind() != ScoreForm::Kind::kTuple || bound.clock != Clock::kNone || !is_integer ||
      std::isinf(bound.score)) {
    return std::nullopt;
  }
  return std::to_string(static_cast<uint64_t>(bound.score));
}

// The codes that satisfy one bound. Scores that decay are not compared with clocks.
std::optional<CodeRange> CodesFrom(const TimedScoreBound& min, const ScoreForm& form, Millis now) {
  if (form.decays() && min.clock != Clock::kNone) return std::nullopt;
  const std::optional<std::string> text = TextOf(min, form);
  const auto codes = text ? form.CodesOf(*text) : std::nullopt;
  if (!codes && min.is_tuple) return std::nullopt;
  if (!codes) return form.CodesFrom(min.At(now).score, min.exclusive, now);
  if (!min.exclusive) return CodeRange{.first = codes->first};
  return codes->last == CodeRange::kMost ? CodeRange::None() : CodeRange{.first = codes->last + 1};
}

std::optional<CodeRange> CodesUpTo(const TimedScoreBound& max, const ScoreForm& form, Millis now) {
  if (form.decays() && max.clock != Clock::kNone) return std::nullopt;
  const std::optional<std::string> text = TextOf(max, form);
  const auto codes = text ? form.CodesOf(*text) : std::nullopt;
  if (!codes && max.is_tuple) return std::nullopt;
  if (!codes) return form.CodesUpTo(max.At(now).score, max.exclusive, now);
  if (!max.exclusive) return CodeRange{.last = codes->last};
  return codes->first == 0 ? CodeRange::None() : CodeRange{.last = codes->first - 1};
}

}  // namespace

ScoreBound TimedScoreBound::At(Millis now) const {
  return {.score = clock == Clock::kNone ? score : ScoreAt(clock, now), .exclusive = exclusive};
}

std::optional<CodeRange> TimedScoreRange::CodesIn(const SortedSet& set, Millis now) const {
  const ScoreForm& form = set.form();
  const std::optional<CodeRange> from = CodesFrom(min, form, now);
  const std::optional<CodeRange> up_to = CodesUpTo(max, form, now);
  if (!from || !up_to) return std::nullopt;
  return CodeRange{from->first, up_to->last, from->is_empty || up_to->is_empty};
}

bool TimedScoreRange::Suits(const SortedSet& set, Millis now) const {
  if (!set.has_form()) return !min.is_tuple && !max.is_tuple;
  return CodesIn(set, now).has_value();
}

RankRange TimedScoreRange::RanksIn(const SortedSet& set, Millis now) const {
  if (set.has_form()) [[unlikely]]
    return set.Ranks(CodesIn(set, now).value_or(CodeRange::None()));
  return set.Ranks(At(now));
}

// A range is reached if its upper end rises with the clock, or the scores decay.
std::optional<Millis> TimedScoreRange::NextReachOfForm(const SortedSet& set, Millis now) const {
  const ScoreForm& form = set.form();
  if (form.decays() ? max.score < 0 : max.clock == Clock::kNone) return std::nullopt;
  const auto codes = CodesUpTo(max, form, now);
  const size_t end = codes ? set.Ranks(*codes).last : set.size();
  if (end == set.size()) return std::nullopt;
  const double first_above = form.Rounded(ScoreCode(set.At(end).score()));
  if (form.decays()) return form.half_life().WhenDown(first_above, max.score, max.exclusive, now);
  return FirstReach(max, first_above);
}

std::optional<Millis> TimedScoreRange::NextReach(const SortedSet& set, Millis now) const {
  if (set.has_form()) return NextReachOfForm(set, now);
  if (max.clock == Clock::kNone) return std::nullopt;
  const ScoreBound infinite = {.score = std::numeric_limits<double>::infinity()};
  const ScoreBound end = max.At(now);
  const RankRange above = set.Ranks(
      ScoreRange{.min = {.score = end.score, .exclusive = !end.exclusive}, .max = infinite});
  if (above.empty()) return std::nullopt;
  return FirstReach(max, set.At(above.first).score());
}

}  // namespace zsetd
