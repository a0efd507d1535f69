#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zsetd {

// Like ParseInteger and ParseDouble, but return whether the text is such a number, and keep
// `number` if not. Those two are in the header for speed: an optional that a function elsewhere
// returns is built in memory byte by byte and read back as words, for which the processor stalls.
bool ReadInteger(std::string_view text, int64_t& number);
bool ReadDouble(std::string_view text, double& number);

// An integer in the one way Redis writes it: no plus sign, no leading zeros, no spaces.
inline std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t number = 0;
  return ReadInteger(text, number) ? std::optional(number) : std::nullopt;
}

// A floating-point number, decimal (1.5, +.5e3) or hexadecimal (0x1.8p3), or inf or infinity in any
// case, with or without a sign; no spaces. Never NaN. Nullopt if it is too large for a double, or
// so small that it would become 0.
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

// The fewest digits that read back exactly, laid out as the newest Redis does (decimal_layout.h),
// but integers up to 2^62 in full. `inf`, `-inf`, `nan`, and `-0`.
char* FormatDouble(double value, char* out);

std::string IntegerText(int64_t value);
std::string DoubleText(double value);

// So many digits after the point, whatever they say: "1.5000"; up to 320 bytes. `inf` and `-inf`.
std::string FixedText(double value, int digits);

// As INCRBYFLOAT writes it: 17 digits after the point, trailing zeros cut, never an exponent; up to
// 5000 bytes.
std::string LongDoubleText(long double value);

}  // namespace zsetd
