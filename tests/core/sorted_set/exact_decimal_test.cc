#include "core/sorted_set/form/exact_decimal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/util/rng.h"

namespace zsetd::exact_decimal_test {
namespace {

// The number as text: the integer part, and "+" for a fraction.
std::string Shown(const std::optional<ExactDecimal>& number) {
  if (!number) return "none";
  if (number->whole == ExactDecimal::kMostWhole) return number->is_negative ? "-large" : "large";
  return (number->is_negative ? "-" : "") + std::to_string(static_cast<uint64_t>(number->whole)) +
         (number->has_fraction ? "+" : "");
}

std::string Read(std::string_view text) { return Shown(ExactDecimal::Read(text)); }

TEST(ExactDecimal, ReadsLargeIntegersAndTheirFractions) {
  EXPECT_EQ(Read("9007199254740993"), "9007199254740993");
  EXPECT_EQ(Read("-9007199254740993.000"), "-9007199254740993");
  EXPECT_EQ(Read("9007199254740992.9"), "9007199254740992+");
  EXPECT_EQ(Read("18446744073709551615.000000000000000000001"), "18446744073709551615+");
  EXPECT_EQ(Read("18446744073709551616"), "large");
  EXPECT_EQ(Read("-1" + std::string(5000, '0')), "-large");
  EXPECT_EQ(Read(std::string(5000, '0') + "7." + std::string(5000, '0') + "1"), "7+");
  EXPECT_EQ(Read(" \t+5"), "5");
  EXPECT_EQ(Read(".5"), "0+");
  EXPECT_EQ(Read("-.5"), "-0+");
  EXPECT_EQ(Read("5."), "5");
}

TEST(ExactDecimal, ReadsExponents) {
  EXPECT_EQ(Read("4.611686018427387905e18"), "4611686018427387905");
  EXPECT_EQ(Read("4.6116860184273879055E+18"), "4611686018427387905+");
  EXPECT_EQ(Read("46116860184273879055e-1"), "4611686018427387905+");
  EXPECT_EQ(Read("1e19"), "10000000000000000000");
  EXPECT_EQ(Read("1e20"), "large");
  EXPECT_EQ(Read("1e99999999999999999999"), "large");
  EXPECT_EQ(Read("-1e-99999999999999999999"), "-0+");
  EXPECT_EQ(Read("0e99999999999999999999"), "0");
  EXPECT_EQ(Read("1e-1000000000000000"), "0+");
  EXPECT_EQ(Read("0.000e1000000000000000"), "0");
  EXPECT_EQ(Read("0." + std::string(5000, '0') + "5e5001"), "5");
}

TEST(ExactDecimal, RefusesOtherTexts) {
  for (const std::string text : {"", " ", "-", ".", "e5", "1e", "1e+", "1e+-5", "0x10", "1 ",
                                 "1.5.5", "--1", "inf", "nan", "1/2"}) {
    EXPECT_EQ(Read(text), "none") << text;
  }
}

TEST(ExactDecimal, RoundsDownAndUp) {
  const auto ends = [](std::string_view text) {
    const ExactDecimal number = *ExactDecimal::Read(text);
    return std::pair(static_cast<int64_t>(number.Floor()), static_cast<int64_t>(number.Ceiling()));
  };
  EXPECT_EQ(ends("2.5"), (std::pair<int64_t, int64_t>(2, 3)));
  EXPECT_EQ(ends("-2.5"), (std::pair<int64_t, int64_t>(-3, -2)));
  EXPECT_EQ(ends("-0.5"), (std::pair<int64_t, int64_t>(-1, 0)));
  EXPECT_EQ(ends("-2"), (std::pair<int64_t, int64_t>(-2, -2)));
}

// Doubles are exact, and so are their texts of 17 digits below 2^53.
TEST(ExactDecimal, AgreesWithDoubles) {
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    const double integer = static_cast<double>(rng.Next() >> (11 + rng.Below(50)));
    const double number =
        (rng.Below(2) ? 1 : -1) * std::ldexp(integer, -static_cast<int>(rng.Below(20)));
    const ExactDecimal exact = ExactDecimal::Of(number);
    ASSERT_EQ(static_cast<double>(exact.Floor()), std::floor(number));
    ASSERT_EQ(static_cast<double>(exact.Ceiling()), std::ceil(number));
    char text[64];
    std::snprintf(text, sizeof(text), "%.30e", number);
    ASSERT_EQ(Read(text), Shown(exact)) << text;
    std::snprintf(text, sizeof(text), "%.20f", number);
    ASSERT_EQ(Read(text), Shown(exact)) << text;
  }
  EXPECT_EQ(Shown(ExactDecimal::Of(1e300)), "large");
  EXPECT_EQ(Shown(ExactDecimal::Of(-1.5)), "-1+");
}

}  // namespace
}  // namespace zsetd::exact_decimal_test
