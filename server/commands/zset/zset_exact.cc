#include "server/commands/zset/zset_exact.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace zsetd {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the digits of an integer's absolute value, without leading zeros; empty for other
// numbers.
std::string_view DigitsOf(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const size_t point = text.find('.');
  if (point != std::string_view::npos) {
    if (text.find_first_not_of('0', point + 1) != std::string_view::npos) return {};
    text = text.substr(0, point);
  }
  for (const char c : text) {
    if (!IsDigit(c)) return {};
  }
  const size_t first = text.find_first_not_of('0');
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

bool IsInteger(double number) { return std::isfinite(number) && std::trunc(number) == number; }

}  // namespace

bool IsInexactInteger(std::string_view text, double parsed) {
  if (std::abs(parsed) < kFirstInexact) return false;
  const std::string_view digits = DigitsOf(text);
  if (digits.empty()) return false;
  char exact[std::numeric_limits<double>::max_exponent10 + 2];
  const auto end =
      std::to_chars(exact, std::end(exact), std::abs(parsed), std::chars_format::fixed, 0).ptr;
  return digits != std::string_view(exact, static_cast<size_t>(end - exact));
}

// Knuth, The Art of Computer Programming, vol. 2, 4.2.2, theorem B: the error of a sum.
bool IsInexactSum(double a, double b) {
  if (!IsInteger(a) || !IsInteger(b)) return false;
  const double sum = a + b;
  const double b_part = sum - a;
  const double a_part = sum - b_part;
  return !std::isfinite(sum) || (a - a_part) + (b - b_part) != 0;
}

}  // namespace zsetd
