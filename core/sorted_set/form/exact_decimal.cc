#include "core/sorted_set/form/exact_decimal.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace zsetd {
namespace {

// Takes one of the characters if it is next; 0 if none is.
char TakeAny(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos) return 0;
  const char taken = text.front();
  text.remove_prefix(1);
  return taken;
}

std::string_view TakeDigits(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

// Takes the text after an E as an exponent. Clips it to a range in which it can be added to
// lengths.
std::optional<int64_t> TakeExponent(std::string_view& text) {
  constexpr int64_t kMost = int64_t{1} << 48;
  if (TakeAny(text, "+") && text.starts_with('-')) return std::nullopt;
  int64_t exponent = 0;
  const bool is_negative = text.starts_with('-');
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error == std::errc::result_out_of_range) {
    exponent = is_negative ? -kMost : kMost;
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return std::clamp(exponent, -kMost, kMost);
}

// Collects the digits of a number from the first to the last.
class DigitCollector {
 public:
  // The first `whole_digits` digits are before the point; there may be fewer digits than that.
  explicit DigitCollector(int64_t whole_digits) : whole_left_(whole_digits) {}

  void Add(char digit) {
    if (whole_left_-- > 0) {
      AddToWhole(digit - '0');
    } else {
      has_fraction_ |= digit != '0';
    }
  }

  ExactDecimal Take(bool is_negative) {
    while (whole_left_-- > 0 && whole_ > 0 && whole_ < ExactDecimal::kMostWhole) AddToWhole(0);
    return {is_negative, whole_, has_fraction_};
  }

 private:
  void AddToWhole(int digit) { whole_ = std::min(whole_ * 10 + digit, ExactDecimal::kMostWhole); }

  int64_t whole_left_;
  __int128 whole_ = 0;
  bool has_fraction_ = false;
};

}  // namespace

ExactDecimal ExactDecimal::Of(double number) {
  assert(std::isfinite(number));
  const double absolute = std::abs(number);
  const double whole = std::min(std::trunc(absolute), static_cast<double>(kMostWhole));
  return {std::signbit(number), static_cast<__int128>(whole), std::trunc(absolute) != absolute};
}

std::optional<ExactDecimal> ExactDecimal::Read(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  const bool is_negative = TakeAny(text, "+-") == '-';
  const std::string_view before_point = TakeDigits(text);
  const std::string_view after_point = TakeAny(text, ".") ? TakeDigits(text) : "";
  if (before_point.empty() && after_point.empty()) return std::nullopt;
  const auto exponent = TakeAny(text, "eE") ? TakeExponent(text) : 0;
  if (!exponent || !text.empty()) return std::nullopt;
  DigitCollector digits(static_cast<int64_t>(before_point.size()) + *exponent);
  for (const char digit : before_point) digits.Add(digit);
  for (const char digit : after_point) digits.Add(digit);
  return digits.Take(is_negative);
}

}  // namespace zsetd
