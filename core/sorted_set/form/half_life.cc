#include "core/sorted_set/form/half_life.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>

namespace zsetd {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kLn2 = 0.69314718055994530942;

// The digits of a score that are exact if stored numbers have this magnitude.
int ExactDigits(double magnitude) {
  constexpr int kFewest = 6, kMost = 12;
  const double error = std::max(magnitude, 1.0) * kLn2 / 9007199254740992.0;  // 2^53
  return std::clamp(static_cast<int>(-std::log10(2 * error)), kFewest, kMost);
}

double RoundedTo(int digits, double number) {
  std::array<char, 40> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number,
                                          std::chars_format::scientific, digits - 1);
  assert(error == std::errc());
  double rounded = number;
  std::from_chars(text.data(), end, rounded);  // keeps `number` if it rounds up to infinity
  return rounded;
}

}  // namespace

HalfLife::HalfLife(uint32_t seconds) : seconds_(seconds) {
  assert(seconds >= 1 && seconds <= kMostSeconds);
}

double HalfLife::Age(Millis now) const {
  return static_cast<double>((now - kLandmark).count()) / (seconds_ * 1000.0);
}

double HalfLife::Stored(double score, Millis now) const {
  assert(std::isfinite(score) && score >= 0);
  return Age(now) + std::log2(score) + 0.0;  // never -0.0
}

double HalfLife::ScoreAt(double stored, Millis now) const {
  assert(IsStored(stored));
  return std::exp2(stored - Age(now));
}

double HalfLife::Sum(double a, double b) {
  assert(IsStored(a) && IsStored(b));
  const double high = std::max(a, b), low = std::min(a, b);
  if (low == -kInfinite) return high;
  return high + std::log1p(std::exp2(low - high)) / kLn2 + 0.0;
}

bool HalfLife::IsStored(double number) {
  return number < kInfinite && !(number == 0 && std::signbit(number));
}

std::optional<Millis> HalfLife::WhenDown(double stored, double score, bool exclusive,
                                         Millis now) const {
  constexpr double kFurthest = 1e15;  // ms, 30,000 years
  const double half_lives = stored - Stored(score, now);
  const double wait = half_lives * seconds_ * 1000.0;
  if (!(wait < kFurthest)) return std::nullopt;
  const auto is_down = [&](Millis at) {
    const double bound = Stored(score, at);
    return exclusive ? stored < bound : stored <= bound;
  };
  // The estimate is exact to the rounding of numbers, so a few instants are tried.
  Millis at = std::max(now, now + Millis(static_cast<Millis::rep>(wait)) - Millis(1));
  for (int tries = 0; tries < 4 && !is_down(++at); ++tries) {
  }
  return at;
}

double HalfLife::Shown(double stored, Millis now) const {
  const double score = ScoreAt(stored, now);
  if (score == 0 || std::isinf(score)) return score;
  return RoundedTo(ExactDigits(std::max(std::abs(stored), std::abs(Age(now)))), score);
}

}  // namespace zsetd
