#pragma once

#include <optional>
#include <string_view>

namespace zsetd {

// The integer part of a number and whether a fraction follows it. Large integers are exact, where a
// double is rounded.
struct ExactDecimal {
  static constexpr __int128 kMostWhole = __int128{1} << 64;

  bool is_negative = false;
  __int128 whole = 0;  // of the absolute value, at most kMostWhole
  bool has_fraction = false;

  // Precondition: the number is finite.
  static ExactDecimal Of(double number);

  // Reads a decimal number as strtod does: blanks, a sign, digits with a point, and an exponent.
  // Returns nullopt for other texts, such as hexadecimal numbers. O(length).
  static std::optional<ExactDecimal> Read(std::string_view text);

  // The greatest integer that is not above the number, and the least that is not below.
  __int128 Floor() const { return is_negative ? -whole - has_fraction : whole; }
  __int128 Ceiling() const { return is_negative ? -whole : whole + has_fraction; }
};

}  // namespace zsetd
