#include "protocol/text/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

#include "protocol/text/decimal_layout.h"

namespace zsetd {
namespace {

char* Copy(std::string_view text, char* out) { return std::copy(text.begin(), text.end(), out); }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool StartsLikeHex(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
         (IsHexDigit(text[2]) || text[2] == '.');
}

// Whether a digit of the number before its exponent is not 0. The exponent does not matter: 0e5 is
// 0.
bool HasNonzeroDigit(std::string_view text, bool is_hex) {
  for (char c : text) {
    if (c == 'p' || c == 'P' || (!is_hex && (c == 'e' || c == 'E'))) return false;
    if (c != '0' && c != '.') return true;
  }
  return false;
}

// Parses a number after its sign. Refuses numbers that would overflow to infinity or underflow to
// 0, as Redis does for strtod's ERANGE.
template <typename Float>
std::optional<Float> ParseMagnitude(std::string_view text) {
  const bool is_hex = StartsLikeHex(text);
  if (is_hex) text.remove_prefix(2);
  if (text.empty() || text.front() == '-') return std::nullopt;
  Float value = 0;
  const auto format = is_hex ? std::chars_format::hex : std::chars_format::general;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, format);
  if (result.ec != std::errc() || result.ptr != end || std::isnan(value)) return std::nullopt;
  if (std::isinf(value) && (IsDigit(text.front()) || text.front() == '.')) return std::nullopt;
  if (value == 0 && HasNonzeroDigit(text, is_hex)) return std::nullopt;
  return value;
}

template <typename Float>
std::optional<Float> ParseFloat(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  const auto magnitude = ParseMagnitude<Float>(text);
  return negative && magnitude ? std::optional<Float>(-*magnitude) : magnitude;
}

// Reads a number of few digits only, as most lengths, timestamps and counters are. A plain loop is
// faster than the setup of std::from_chars.
template <typename Number>
bool ReadDigits(std::string_view text, Number& number) {
  if (text.empty() || text.size() > std::numeric_limits<double>::digits10) return false;
  int64_t digits = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return false;
    digits = 10 * digits + (c - '0');
  }
  number = static_cast<Number>(digits);
  return true;
}

// Whether Redis writes the value as an integer with all digits (double2ll in its util.c).
bool PrintsAsInteger(double value) {
  constexpr double kLimit = 4611686018427387904.0;  // 2^62
  return value >= -kLimit && value <= kLimit && value == std::trunc(value) &&
         !(value == 0 && std::signbit(value));
}

// Splits "d.ddde-dd" into digits and exponent. Removes the point by moving digits in `text`.
Decimal SplitScientific(char* text, char* end) {
  char* e = std::find(text, end, 'e');
  int exponent = 0;
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, exponent);
  char* digits_end = e;
  if (e - text > 1) digits_end = std::copy(text + 2, e, text + 1);
  const std::string_view digits(text, digits_end - text);
  return {digits, exponent - static_cast<int>(digits.size()) + 1};
}

}  // namespace

bool ReadInteger(std::string_view text, int64_t& number) {
  if (text == "0") {
    number = 0;
    return true;
  }
  const size_t first_digit = text.starts_with('-') ? 1 : 0;
  if (first_digit == text.size() || text[first_digit] == '0') return false;
  if (ReadDigits(text, number)) return true;
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return false;
  number = value;
  return true;
}

bool ReadDouble(std::string_view text, double& number) {
  if (ReadDigits(text, number)) return true;
  const std::optional<double> value = ParseFloat<double>(text);
  if (value) number = *value;
  return value.has_value();
}

std::optional<long double> ParseLongDouble(std::string_view text) {
  const std::string terminated(text);  // g++ 12's from_chars reads a long double until a zero byte
  return ParseFloat<long double>(terminated);
}

char* FormatInteger(int64_t value, char* out) {
  return std::to_chars(out, out + kNumberBytes, value).ptr;
}

char* FormatDouble(double value, char* out) {
  if (PrintsAsInteger(value)) return FormatInteger(static_cast<int64_t>(value), out);
  if (std::isnan(value)) return Copy("nan", out);
  if (std::signbit(value)) *out++ = '-';
  if (std::isinf(value)) return Copy("inf", out);
  if (value == 0) return Copy("0", out);
  std::array<char, kNumberBytes> text;
  const auto result =
      std::to_chars(text.begin(), text.end(), std::abs(value), std::chars_format::scientific);
  return LayOut(SplitScientific(text.data(), result.ptr), out);
}

std::string IntegerText(int64_t value) {
  std::array<char, kNumberBytes> text;
  return std::string(text.data(), FormatInteger(value, text.data()));
}

std::string DoubleText(double value) {
  std::array<char, kNumberBytes> text;
  return std::string(text.data(), FormatDouble(value, text.data()));
}

std::string FixedText(double value, int digits) {
  std::array<char, std::numeric_limits<double>::max_exponent10 + 32> room;
  const auto result =
      std::to_chars(room.begin(), room.end(), value, std::chars_format::fixed, digits);
  return std::string(room.data(), result.ptr - room.data());
}

std::string LongDoubleText(long double value) {
  constexpr int kPrecision = 17;  // digits after the point
  std::array<char, std::numeric_limits<long double>::max_exponent10 + kPrecision + 8> room;
  const auto result =
      std::to_chars(room.begin(), room.end(), value, std::chars_format::fixed, kPrecision);
  std::string_view text(room.data(), result.ptr - room.data());
  if (!std::isfinite(value)) return std::string(text);
  text = text.substr(0, text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text == "-0" ? "0" : text);
}

}  // namespace zsetd
