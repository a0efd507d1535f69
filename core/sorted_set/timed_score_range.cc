#include "core/sorted_set/timed_score_range.h"

#include <cmath>
#include <limits>

#include "core/sorted_set/form/exact_decimal.h"
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

// The number of a bound without a clock; nullopt if it is infinite or cannot be read exactly. Each
// change of a set may call this for clients that wait, so longer texts are not read.
std::optional<ExactDecimal> NumberOf(const TimedScoreBound& bound) {
  if (bound.is_tuple || std::isinf(bound.score)) return std::nullopt;
  if (bound.exact.size() > kMostScoreTextBytes) return std::nullopt;
  if (!bound.exact.empty()) return ExactDecimal::Read(bound.exact);
  return ExactDecimal::Of(bound.score);
}

// The text of a bound as the first fields of a tuple; nullopt if it is no such text.
std::optional<std::string> TupleTextOf(const TimedScoreBound& bound) {
  if (bound.is_tuple) return bound.exact;
  if (bound.clock != Clock::kNone) return std::nullopt;
  const std::optional<ExactDecimal> number = NumberOf(bound);
  if (!number || number->has_fraction || number->whole == ExactDecimal::kMostWhole ||
      number->Floor() < 0) {
    return std::nullopt;
  }
  return std::to_string(static_cast<uint64_t>(number->whole));
}

// The codes of the tuples that begin with the bound; nullopt if it is only a number.
std::optional<CodeRange> TuplesOf(const TimedScoreBound& bound, const ScoreForm& form) {
  if (form.kind() != ScoreForm::Kind::kTuple) return std::nullopt;
  const std::optional<std::string> text = TupleTextOf(bound);
  return text ? form.CodesOf(*text) : std::nullopt;
}

// Whether no score of the form can be compared with the bound, unless it begins tuples. Scores that
// decay are not compared with clocks.
bool IsForeign(const TimedScoreBound& bound, const ScoreForm& form) {
  return bound.is_tuple || (form.decays() && bound.clock != Clock::kNone);
}

bool HasExactNumber(const TimedScoreBound& bound, const ScoreForm& form) {
  return form.kind() == ScoreForm::Kind::kInt64 && !bound.exact.empty();
}

// The codes that satisfy one bound.
std::optional<CodeRange> CodesFrom(const TimedScoreBound& min, const ScoreForm& form, Millis now) {
  if (const std::optional<CodeRange> tuples = TuplesOf(min, form)) {
    if (!min.exclusive) return CodeRange{.first = tuples->first};
    if (tuples->last == CodeRange::kMost) return CodeRange::None();
    return CodeRange{.first = tuples->last + 1};
  }
  if (IsForeign(min, form)) return std::nullopt;
  if (!HasExactNumber(min, form)) return form.CodesFrom(min.At(now).score, min.exclusive, now);
  const std::optional<ExactDecimal> number = NumberOf(min);
  return number ? std::optional(form.CodesFrom(*number, min.exclusive)) : std::nullopt;
}

std::optional<CodeRange> CodesUpTo(const TimedScoreBound& max, const ScoreForm& form, Millis now) {
  if (const std::optional<CodeRange> tuples = TuplesOf(max, form)) {
    if (!max.exclusive) return CodeRange{.last = tuples->last};
    return tuples->first == 0 ? CodeRange::None() : CodeRange{.last = tuples->first - 1};
  }
  if (IsForeign(max, form)) return std::nullopt;
  if (!HasExactNumber(max, form)) return form.CodesUpTo(max.At(now).score, max.exclusive, now);
  const std::optional<ExactDecimal> number = NumberOf(max);
  return number ? std::optional(form.CodesUpTo(*number, max.exclusive)) : std::nullopt;
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
