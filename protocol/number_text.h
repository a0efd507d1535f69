#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zsetd {

// An integer in the one way Redis writes it: no plus sign, no leading zeros, no spaces.
std::optional<int64_t> ParseInteger(std::string_view text);

// A decimal floating-point number, inf, +inf, -inf or infinity in any case; no spaces. Never NaN.
std::optional<double> ParseDouble(std::string_view text);

// The same in extended precision, for INCRBYFLOAT.
std::optional<long double> ParseLongDouble(std::string_view text);

// Room for any result of FormatInteger and FormatDouble.
inline constexpr size_t kNumberBytes = 32;

// Writes the number to `out` and returns its end. `out` has kNumberBytes.
char* FormatInteger(int64_t value, char* out);

// The fewest digits that read back exactly, laid out as the newest Redis does: integers without a
// point, an exponent (e+21, e-7) only where it is shorter to read. `inf`, `-inf`, `nan`.
char* FormatDouble(double value, char* out);

std::string IntegerText(int64_t value);
std::string DoubleText(double value);

// As INCRBYFLOAT writes it: 17 digits after the point, trailing zeros cut, never an exponent.
std::string LongDoubleText(long double value);

}  // namespace zsetd
