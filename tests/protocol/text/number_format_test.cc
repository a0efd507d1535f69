#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "protocol/text/number_text.h"
#include "tests/support/steps.h"

namespace zsetd::number_format_test {
namespace {

using Chance = std::mt19937_64;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(FormatDouble, FormatsLikeTheNewestRedis) {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},
      {-0.0, "-0"},
      {1, "1"},
      {-12, "-12"},
      {1e15, "1000000000000000"},
      {9007199254740993, "9007199254740992"},
      {4611686018427387904, "4611686018427387904"},
      {-4611686018427387904, "-4611686018427387904"},
      {4611686018427388928, "4611686018427389000"},
      {9223372036854775808.0, "9223372036854776000"},
      {1e19, "1e+19"},
      {1.2345678e20, "1.2345678e+20"},
      {123456789012345e7, "1234567890123450000000"},
      {123456789012345e8, "1.23456789012345e+22"},
      {1e21, "1e+21"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {-3.25, "-3.25"},
      {1.0 / 3, "0.3333333333333333"},
      {1000.0 / 3, "333.3333333333333"},
      {100000.0 / 3, "3.3333333333333336e+4"},
      {12345.678901, "12345.678901"},
      {12345.6789012, "1.23456789012e+4"},
      {1530633600.123456, "1530633600.123456"},
      {0.001, "0.001"},
      {0.000001, "0.000001"},
      {0.0000001, "1e-7"},
      {0.0000015, "1.5e-6"},
      {-0.00000015, "-1.5e-7"},
      {0.001234567, "0.001234567"},
      {1e100, "1e+100"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
      {std::numeric_limits<double>::denorm_min(), "5e-324"},
      {-2.2250738585072014e-308, "-2.2250738585072014e-308"},
      {kInfinity, "inf"},
      {-kInfinity, "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"},
      {-std::numeric_limits<double>::quiet_NaN(), "nan"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(DoubleText(value), text);
}

// Doubles of every magnitude, whole ones and short decimals among them.
double RandomDouble(Chance& chance) {
  switch (chance() % 4) {
    case 0:
      return static_cast<double>(static_cast<int64_t>(chance()) >> (chance() % 64));
    case 1:
      return static_cast<double>(chance() % 1'000'000'000) / std::pow(10, chance() % 15);
    default:
      return std::bit_cast<double>(chance());
  }
}

// The number of digits without leading and trailing zeros.
size_t DigitsOf(std::string text) {
  text = text.substr(0, text.find('e'));
  std::erase_if(text, [](char c) { return c == '-' || c == '.'; });
  return text.find_last_not_of('0') + 1 - text.find_first_not_of('0');
}

bool ReadsBackWithDigits(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
  return std::strtod(text, nullptr) == value;
}

TEST(FormatDouble, ReadsBackAndIsShortest) {
  for (int seed = 0; seed < Steps(300'000); ++seed) {
    SCOPED_TRACE(seed);
    Chance chance(seed);
    const double value = RandomDouble(chance);
    if (std::isnan(value)) continue;
    const std::string text = DoubleText(value);
    ASSERT_LE(text.size(), kNumberBytes);
    ASSERT_EQ(ParseDouble(text), value) << text;
    const size_t digits = DigitsOf(text);
    if (std::abs(value) <= 0x1p62 && value == std::trunc(value)) continue;  // written in full
    ASSERT_TRUE(digits < 2 || !ReadsBackWithDigits(value, digits - 1)) << text;
  }
}

// Each is the reply of redis-server 7.0.15 to INCRBYFLOAT. A long double has 64 bits of mantissa on
// x86-64, and 113 on arm64.
TEST(LongDoubleText, FormatsLikeIncrByFloat) {
  constexpr bool kIsExtended = std::numeric_limits<long double>::digits == 64;
  const std::pair<long double, const char*> cases[] = {
      {0, "0"},
      {-0.0L, "0"},
      {10.5L, "10.5"},
      {5.0e3L, "5000"},
      {0.1L, "0.1"},
      {0.1L + 0.2L, "0.3"},
      {1.0L / 3, "0.33333333333333333"},
      {-2.0L / 3, "-0.66666666666666667"},
      {1e-17L, "0.00000000000000001"},
      {1e-18L, "0"},
      {-1e-18L, "0"},
      {1e25L, "10000000000000000000000000"},
      {123456789.987654321L, kIsExtended ? "123456789.98765432099753525" : "123456789.987654321"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(LongDoubleText(value), text);
}

TEST(LongDoubleText, HasRoomForTheLargest) {
  const long double largest = std::numeric_limits<long double>::max();
  EXPECT_EQ(LongDoubleText(-largest).size(), 4934);
  EXPECT_EQ(ParseLongDouble(LongDoubleText(largest)), largest);
}

TEST(FixedText, HasTheRequestedDecimalsAtAnyMagnitude) {
  EXPECT_EQ(FixedText(0, 4), "0.0000");
  EXPECT_EQ(FixedText(166274.15156960033, 4), "166274.1516");
  EXPECT_EQ(FixedText(-180.000001, 6), "-180.000001");
  EXPECT_EQ(FixedText(1e21, 2), "1000000000000000000000.00");
  EXPECT_EQ(FixedText(-std::numeric_limits<double>::max(), 6).size(), 317u);
  EXPECT_EQ(FixedText(-std::numeric_limits<double>::infinity(), 6), "-inf");
}

}  // namespace
}  // namespace zsetd::number_format_test
