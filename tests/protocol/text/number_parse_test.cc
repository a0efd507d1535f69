#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/text/number_text.h"
#include "tests/support/steps.h"

namespace zsetd::number_parse_test {
namespace {

using Chance = std::mt19937_64;
using namespace std::string_literals;

TEST(ParseInteger, AcceptsIntegersWrittenByRedis) {
  EXPECT_EQ(ParseInteger("0"), 0);
  EXPECT_EQ(ParseInteger("7"), 7);
  EXPECT_EQ(ParseInteger("-10"), -10);
  EXPECT_EQ(ParseInteger("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ParseInteger("-9223372036854775808"), std::numeric_limits<int64_t>::min());
}

TEST(ParseInteger, RefusesEveryOtherSpelling) {
  for (const std::string& text : {""s,
                                  "-"s,
                                  "+"s,
                                  "+1"s,
                                  "-0"s,
                                  "00"s,
                                  "01"s,
                                  "-01"s,
                                  " 1"s,
                                  "1 "s,
                                  "1\n"s,
                                  "1\0"s,
                                  "1.0"s,
                                  "0x1"s,
                                  "1e3"s,
                                  "--1"s,
                                  "a"s,
                                  "9223372036854775808"s,
                                  "-9223372036854775809"s,
                                  "18446744073709551617"s,
                                  "99999999999999999999999"s}) {
    EXPECT_EQ(ParseInteger(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, ReadsBackFormattedIntegers) {
  Chance chance(1);
  for (int i = 0; i < 100'000; ++i) {
    const int64_t value = static_cast<int64_t>(chance()) >> (chance() % 64);
    ASSERT_EQ(ParseInteger(IntegerText(value)), value);
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ParseDouble, AcceptsEverySpellingOfRedis) {
  const std::pair<std::string, double> cases[] = {
      {"1", 1},
      {"+1", 1},
      {"-1", -1},
      {".5", .5},
      {"5.", 5},
      {"-.5e1", -5},
      {"1e+5", 1e5},
      {"1E-5", 1e-5},
      {"0x1p3", 8},
      {"0X1P3", 8},
      {"-0x.8", -.5},
      {"+0x1.8", 1.5},
      {"0x1.", 1},
      {"0x1p-1074", 5e-324},
      {"inf", kInfinity},
      {"+INF", kInfinity},
      {"-inf", -kInfinity},
      {"Infinity", kInfinity},
      {"-infinity", -kInfinity},
      {"0e-9999", 0},
      {"1e-310", 1e-310},
      {"3e-324", 5e-324},
      {"1.7976931348623158e308", 0x1.fffffffffffffp1023},
      {std::string(400, '0') + "1", 1},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(ParseDouble(text), value) << text;
}

TEST(ParseDouble, KeepsTheSignOfZero) {
  EXPECT_TRUE(std::signbit(*ParseDouble("-0")));
  EXPECT_TRUE(std::signbit(*ParseDouble("-0x0")));
  EXPECT_FALSE(std::signbit(*ParseDouble("+0")));
}

TEST(ParseDouble, RefusesTextsThatAreNotNumbers) {
  for (const std::string& text :
       {""s,      "+"s,     "-"s,   "."s,    "e5"s,   "1e"s,    "1e+"s,   " 1"s,
        "1 "s,    "1\n"s,   "1\0"s, "1_0"s,  "1,5"s,  "1f"s,    "--1"s,   "++1"s,
        "+-1"s,   "-+1"s,   "0x"s,  "0xg"s,  "0x-1"s, "0x 1"s,  "0x.p1"s, "0x1p"s,
        "infin"s, "++inf"s, "nan"s, "-nan"s, "NAN"s,  "nan(1)"s}) {
    EXPECT_EQ(ParseDouble(text), std::nullopt) << text;
    EXPECT_EQ(ParseLongDouble(text), std::nullopt) << text;
  }
}

TEST(ParseDouble, RefusesNumbersOutOfRange) {
  for (const std::string& text :
       {"1e400"s, "-1e400"s, "1.7976931348623159e308"s, "0x1p1024"s, "0x1.fffffffffffff8p1023"s,
        "1e99999999999999999999"s, std::string(400, '1'), "1e-400"s, "-1e-400"s, "2e-324"s,
        "0x1p-1075"s, "0." + std::string(400, '0') + "1"}) {
    EXPECT_EQ(ParseDouble(text), std::nullopt) << text;
  }
}

// The C code that Redis uses.
std::optional<double> StrtodOf(const std::string& text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0]))) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || std::isnan(value)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;
  return value;
}

TEST(ParseDouble, AgreesWithStrtodOnDigits) {
  Chance chance(1);
  for (int i = 0; i < 100'000; ++i) {
    std::string text(1 + chance() % 20, '0');
    for (char& digit : text) digit = static_cast<char>('0' + chance() % 10);
    ASSERT_EQ(ParseDouble(text), StrtodOf(text)) << text;
  }
}

TEST(ParseDouble, AgreesWithStrtodOnRandomText) {
  static constexpr std::string_view kAlphabet = "0123456789.eE+-xXpPaAfFinIN ty0011223344";
  int numbers = 0;
  for (int seed = 0; seed < Steps(300'000); ++seed) {
    SCOPED_TRACE(seed);
    Chance chance(seed);
    std::string text = chance() % 3 == 0 ? "0x" : "";
    const size_t size = 1 + chance() % 9;
    while (text.size() < size) text += kAlphabet[chance() % kAlphabet.size()];
    const auto value = ParseDouble(text);
    ASSERT_EQ(value, StrtodOf(text)) << text;
    if (value) ++numbers;
  }
  EXPECT_GT(numbers, Steps(10'000)) << "too few texts were numbers";
}

TEST(ParseLongDouble, HasRoomBeyondADouble) {
  EXPECT_EQ(ParseLongDouble("1e400"), 1e400L);
  EXPECT_EQ(ParseLongDouble("-0x1p2000"), -0x1p2000L);
  EXPECT_EQ(ParseLongDouble("0.1"), 0.1L);
  EXPECT_EQ(ParseLongDouble("1e-400"), 1e-400L);
  EXPECT_EQ(ParseLongDouble("1e5000"), std::nullopt);
  EXPECT_EQ(ParseLongDouble("1e-5000"), std::nullopt);
}

TEST(ParseLongDouble, ReadsNothingBeyondTheText) {
  const std::vector<char> text = {'1', '.', '5'};
  EXPECT_EQ(ParseLongDouble(std::string_view(text.data(), text.size())), 1.5L);
}

}  // namespace
}  // namespace zsetd::number_parse_test
