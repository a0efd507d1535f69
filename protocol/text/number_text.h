#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zsetd {

// Like ParseInteger() and ParseDouble(), but return whether the text is such a number, and leave
// `number` unchanged if not. ParseInteger() and ParseDouble() are inline for speed. A std::optional
// that a non-inline function returns is written byte by byte and read as words, which stalls the
// processor.
bool ReadInteger(std::string_view text, int64_t& number);
bool ReadDouble(std::string_view text, double& number);

// Parses an integer in Redis's canonical form: no plus sign, no leading zeros, no spaces.
inline std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t number = 0;
  return ReadInteger(text, number) ? std::optional(number) : std::nullopt;
}

// Parses a floating-point number: decimal (1.5, +.5e3), hexadecimal (0x1.8p3), or inf or infinity
// in any case. It may have a sign, but no spaces. Never returns NaN. Nullopt if it is too large for
// a double, or so small that it would become 0.
inline std::optional<double> ParseDouble(std::string_view text) {
  double number = 0;
  return ReadDouble(text, number) ? std::optional(number) : std::nullopt;
}

// Like ParseDouble(), in extended precision, for INCRBYFLOAT. Independent of the locale.
std::optional<long double> ParseLongDouble(std::string_view text);

// Room for any result of FormatInteger and FormatDouble.
inline constexpr size_t kNumberBytes = 32;

// Writes the number to `out` and returns its end. `out` has kNumberBytes.
char* FormatInteger(int64_t value, char* out);

// Writes the fewest digits that parse to the same value, in the layout of the newest Redis
// (decimal_layout.h). Integers up to 2^62 have all digits. Special values are `inf`, `-inf`, `nan`,
// and `-0`.
char* FormatDouble(double value, char* out);

std::string IntegerText(int64_t value);
std::string DoubleText(double value);

// The value with exactly `digits` digits after the point, such as "1.5000"; up to 320 bytes.
// Infinities are `inf` and `-inf`.
std::string FixedText(double value, int digits);

// The value as INCRBYFLOAT writes it: 17 digits after the point without trailing zeros, and no
// exponent; up to 5000 bytes.
std::string LongDoubleText(long double value);

}  // namespace zsetd
