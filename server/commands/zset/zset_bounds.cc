#include "server/commands/zset/zset_bounds.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

constexpr std::string_view kBadScoreBound = "ERR min or max is not a float";
constexpr std::string_view kBadLexBound = "ERR min or max not valid string range item";

// Redis parses bounds with strtod, for which the empty string is 0, blanks may precede a number,
// and one out of range is infinite, or 0. That takes a copy, so the usual ones are read without it.
std::optional<double> ParseBound(std::string_view text) {
  if (const auto number = ParseDouble(text)) return number;
  const std::string terminated(text);
  char* end = nullptr;
  const double number = std::strtod(terminated.c_str(), &end);
  const bool is_whole = end == terminated.c_str() + terminated.size();
  return is_whole && !std::isnan(number) ? std::optional(number) : std::nullopt;
}

ScoreBound TakeScoreBound(ArgReader& args) {
  std::string_view word = args.Word();
  const bool exclusive = word.starts_with('(');
  if (exclusive) word.remove_prefix(1);
  const std::optional<double> score = ParseBound(word);
  if (!score) args.Refuse(kBadScoreBound);
  return {.score = score.value_or(0), .exclusive = exclusive};
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

template <class Range, class Bound>
Range Between(Bound first, Bound second, bool reversed) {
  if (reversed) std::swap(first, second);
  return {.min = first, .max = second};
}

}  // namespace

ScoreRange TakeScoreRange(ArgReader& args, bool reversed) {
  const ScoreBound first = TakeScoreBound(args);
  const ScoreBound second = TakeScoreBound(args);
  return Between<ScoreRange>(first, second, reversed);
}

LexRange TakeLexRange(ArgReader& args, bool reversed) {
  const LexBound first = TakeLexBound(args);
  const LexBound second = TakeLexBound(args);
  return Between<LexRange>(first, second, reversed);
}

}  // namespace zsetd
