#pragma once

#include <string_view>

namespace zsetd {

// A positive decimal number: the integer with these digits, times 10^exponent. Neither the first
// nor the last digit is 0.
struct Decimal {
  std::string_view digits;  // at most 17
  int exponent;
};

// Writes `number` in the layout that Redis 7.2 and later use for scores, and returns the end. The
// rules are those of emit_digits in the fpconv library (github.com/night-shift/fpconv). Writes at
// most 25 bytes.
//
//   123 * 10^2    12300       a whole number, unless most of it would be zeros
//   123 * 10^-2   1.23        up to six digits after the point, or any number below 10^4
//   123 * 10^-9   1.23e-7     all else; the exponent always has a sign and no leading zeros
char* LayOut(const Decimal& number, char* out);

}  // namespace zsetd
