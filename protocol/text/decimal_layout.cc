#include "protocol/text/decimal_layout.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace zsetd {
namespace {

char* CopyText(std::string_view text, char* out) {
  return std::copy(text.begin(), text.end(), out);
}

char* LayOutWhole(const Decimal& number, char* out) {
  return std::fill_n(CopyText(number.digits, out), number.exponent, '0');
}

char* LayOutWithPoint(const Decimal& number, char* out) {
  const int before_point = static_cast<int>(number.digits.size()) + number.exponent;
  if (before_point <= 0) {
    out = std::fill_n(CopyText("0.", out), -before_point, '0');
    return CopyText(number.digits, out);
  }
  out = CopyText(number.digits.substr(0, before_point), out);
  *out++ = '.';
  return CopyText(number.digits.substr(before_point), out);
}

char* LayOutScientific(std::string_view digits, int exponent, char* out) {
  *out++ = digits.front();
  if (digits.size() > 1) *out++ = '.';
  out = CopyText(digits.substr(1), out);
  out = CopyText(exponent < 0 ? "e-" : "e+", out);
  return std::to_chars(out, out + 4, std::abs(exponent)).ptr;
}

}  // namespace

char* LayOut(const Decimal& number, char* out) {
  const int size = static_cast<int>(number.digits.size());
  const int magnitude = number.exponent + size - 1;  // of the first digit
  if (number.exponent >= 0 && magnitude < size + 7) return LayOutWhole(number, out);
  if (number.exponent < 0 && (number.exponent > -7 || std::abs(magnitude) < 4)) {
    return LayOutWithPoint(number, out);
  }
  return LayOutScientific(number.digits, magnitude, out);
}

}  // namespace zsetd
