#pragma once

#include <cstdint>
#include <optional>

#include "core/util/time.h"

namespace zsetd {

// The arithmetic of scores that halve in every half-life.
//
// A set stores the logarithm of each score, projected to a fixed instant, the landmark ("Forward
// Decay: A Practical Time Decay Model for Streaming Systems", Cormode et al., 2009):
//
//   stored        = log2( sum of amount * 2^((time of the amount - landmark) / half-life) )
//   score at time = 2^( stored - (time - landmark) / half-life )
//
// All scores shrink by the same factor, so time changes neither the stored numbers nor their order.
// A score of 0 is stored as -inf. The landmark is the same for all sets: two sets with equal
// half-lives can be combined.
//
// A stored number x has a precision of x / 2^53. So in the year 2030 a score has 11 exact digits
// with a half-life of an hour, and 7 with a half-life of a second.
class HalfLife {
 public:
  static constexpr uint32_t kMostSeconds = 1'000'000'000;
  static constexpr Millis kLandmark{1'767'225'600'000};  // 2026-01-01, 00:00 UTC

  // Precondition: 1 to kMostSeconds.
  explicit HalfLife(uint32_t seconds);

  uint32_t seconds() const { return seconds_; }
  bool operator==(const HalfLife&) const = default;

  // The number to store for a score of now. Precondition: finite, and not below 0.
  double Stored(double score, Millis now) const;

  // The score of now; infinite if it exceeds all doubles.
  double ScoreAt(double stored, Millis now) const;

  // The score of now, rounded to the digits that are exact. O(1), some hundred nanoseconds.
  double Shown(double stored, Millis now) const;

  // The stored sum of two scores.
  static double Sum(double a, double b);

  // Whether a score can be stored as this number: finite or -inf, and not -0.0.
  static bool IsStored(double number);

  // The first instant at which `stored` has a score of `score` or less (less if `exclusive`), after
  // `now`. Nullopt if it lies too far away to matter. Precondition: it is not so now.
  std::optional<Millis> WhenDown(double stored, double score, bool exclusive, Millis now) const;

 private:
  double Age(Millis now) const;  // the landmark's, in half-lives

  uint32_t seconds_;
};

}  // namespace zsetd
