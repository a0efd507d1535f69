#include "server/commands/zset/zset_bounds.h"

#include <cassert>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sorted_set/form/score_form.h"
#include "core/sorted_set/sorted_set.h"
#include "protocol/text/number_text.h"
#include "server/commands/zset/zset_exact.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

using Clock = TimedScoreBound::Clock;

constexpr std::string_view kBadLexBound = "ERR min or max not valid string range item";

// Redis parses bounds with strtod: an empty string is 0, blanks may precede a number, and a number
// out of range is infinite or 0. strtod needs a copy, so common bounds are parsed without it.
std::optional<double> ParseBound(std::string_view text) {
  if (const auto number = ParseDouble(text)) return number;
  const std::string terminated(text);
  char* end = nullptr;
  const double number = std::strtod(terminated.c_str(), &end);
  const bool is_whole = end == terminated.c_str() + terminated.size();
  return is_whole && !std::isnan(number) ? std::optional(number) : std::nullopt;
}

Clock ClockOf(std::string_view word) {
  if (EqualsIgnoringCase(word, "now")) return Clock::kSeconds;
  if (EqualsIgnoringCase(word, "nowms")) return Clock::kMillis;
  return Clock::kNone;
}

// Whether the double is an integer, but the number that the text states may be another one.
bool MayBeRounded(std::string_view word, double number) {
  constexpr size_t kExactBytes = 16;  // a fraction of so few digits stays a fraction
  const bool is_small = std::abs(number) < kFirstInexact && word.size() <= kExactBytes;
  const bool is_near_zero = number == 0 && word.size() > 1;  // such as 1e-400
  return std::trunc(number) == number && !std::isinf(number) && (!is_small || is_near_zero);
}

// Reads the word into `bound`, which has its default value. Returns false for other words.
bool ReadScoreBound(std::string_view word, TimedScoreBound& bound) {
  bound.exclusive = word.starts_with('(');
  if (bound.exclusive) word.remove_prefix(1);
  if (const std::optional<double> score = ParseBound(word)) {
    bound.score = *score;
    if (MayBeRounded(word, *score)) [[unlikely]]
      bound.exact = word.substr(0, kMostScoreTextBytes + 1);
    return true;
  }
  bound.clock = ClockOf(word);
  if (bound.clock != Clock::kNone) return true;
  bound.is_tuple = IsTupleText(word);
  if (bound.is_tuple) bound.exact = word;
  return bound.is_tuple;
}

void TakeScoreBound(ArgReader& args, TimedScoreBound& bound) {
  if (!ReadScoreBound(args.Word(), bound)) args.Refuse(kBadScoreBound);
}

// Replaces `now` and `nowms` by the current time as a number.
std::string ResolvedBound(std::string_view word, Millis now) {
  TimedScoreBound bound;
  if (!ReadScoreBound(word, bound) || bound.clock == Clock::kNone) return std::string(word);
  return (bound.exclusive ? "(" : "") + DoubleText(bound.At(now).score);
}

LexBound TakeLexBound(ArgReader& args) {
  const std::string_view word = args.Word();
  if (word == "-") return {.kind = LexBound::Kind::kLowest};
  if (word == "+") return {.kind = LexBound::Kind::kHighest};
  const bool exclusive = word.starts_with('(');
  if (!exclusive && !word.starts_with('[')) {
    args.Refuse(kBadLexBound);
    return {};
  }
  return {.kind = LexBound::Kind::kMember, .member = word.substr(1), .exclusive = exclusive};
}

}  // namespace

void TakeTimedScoreRange(ArgReader& args, bool reversed, TimedScoreRange& range) {
  TakeScoreBound(args, reversed ? range.max : range.min);
  TakeScoreBound(args, reversed ? range.min : range.max);
}

TimedScoreRange TakeTimedScoreRange(ArgReader& args) {
  TimedScoreRange range;
  TakeTimedScoreRange(args, /*reversed=*/false, range);
  return range;
}

void CheckSuits(Call& call, const TimedScoreRange& range, const SortedSet* set) {
  if (set == nullptr || range.Suits(*set, call.now())) [[likely]]
    return;
  call.args.Refuse(set->has_form() ? kBadFormBound : kBadScoreBound);
}

LexRange TakeLexRange(ArgReader& args, bool reversed) {
  LexRange range;
  (reversed ? range.max : range.min) = TakeLexBound(args);
  (reversed ? range.min : range.max) = TakeLexBound(args);
  return range;
}

void PropagateBounds(Call& call, size_t first) {
  if (!call.Propagates()) return;
  const Args argv = call.argv();
  assert(first + 1 < argv.size());
  const std::string bounds[] = {ResolvedBound(argv[first], call.now()),
                                ResolvedBound(argv[first + 1], call.now())};
  if (bounds[0] == argv[first] && bounds[1] == argv[first + 1]) return;
  std::vector<std::string_view> words(argv.begin(), argv.end());
  words[0] = call.command.name;
  words[first] = bounds[0];
  words[first + 1] = bounds[1];
  call.Propagate(words);
}

}  // namespace zsetd
