#include "core/util/numeral.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/util/rng.h"

namespace zsetd::numeral_test {
namespace {

std::string Written(uint64_t number, uint8_t digits) {
  std::string out(kMaxNumeralDigits + kNumeralRoom, '?');
  const std::string text(out.data(), WriteNumeral(out.data(), number, digits));
  EXPECT_EQ(NumeralSize(number, digits), text.size());
  EXPECT_EQ(out.find_first_not_of('?', std::max(text.size(), kNumeralRoom)), std::string::npos);
  return text;
}

TEST(Numeral, ReadsBackAsTheSameDigits) {
  for (const std::string text : {"0", "7", "10", "123456789012345678", "9999999999999999999"}) {
    ASSERT_TRUE(ParseNumeral(text, kShortest)) << text;
    EXPECT_EQ(Written(*ParseNumeral(text, kShortest), kShortest), text);
  }
  for (const std::string text : {"0", "00", "0000000000000000000", "007", "123"}) {
    const auto digits = static_cast<uint8_t>(text.size());
    ASSERT_TRUE(ParseNumeral(text, digits)) << text;
    EXPECT_EQ(Written(*ParseNumeral(text, digits), digits), text);
  }
}

TEST(Numeral, IsAsShortAsThePlainOne) {
  uint64_t power = 1;
  for (size_t digits = 1; digits <= kMaxNumeralDigits; ++digits, power *= 10) {
    for (const uint64_t number : {power - 1, power, power + 1, 5 * power}) {
      EXPECT_EQ(Written(number, kShortest), std::to_string(number));
    }
  }
}

TEST(Numeral, IsPaddedToAnyWidth) {
  Rng rng(1);
  uint64_t below = 1;
  for (int digits = 1; digits <= static_cast<int>(kMaxNumeralDigits); ++digits) {
    below *= 10;
    for (int i = 0; i < 2000; ++i) {
      const uint64_t number = i == 0 ? below - 1 : rng.Next() % below;
      const std::string text = std::to_string(number);
      EXPECT_EQ(Written(number, digits), std::string(digits - text.size(), '0') + text);
    }
  }
}

TEST(Numeral, EveryByteOfEveryLengthCounts) {
  for (size_t digits = 1; digits <= kMaxNumeralDigits; ++digits) {
    const std::string text = std::string("8642097531864209753").substr(0, digits);
    ASSERT_EQ(ParseNumeral(text, kShortest), std::stoull(text));
    for (size_t at = 0; at < digits; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string changed = text;
        changed[at] = static_cast<char>(byte);
        const auto read = ParseNumeral(changed, static_cast<uint8_t>(digits));
        ASSERT_EQ(read.has_value(), IsDigit(changed[at])) << digits << " " << at << " " << byte;
        ASSERT_TRUE(!read || *read == std::stoull(changed));
      }
    }
  }
}

TEST(Numeral, OtherSpellingsAreNotNumerals) {
  for (const char* text : {"", "00", "01", "-1", "+1", "1a", " 1", "10000000000000000000"}) {
    EXPECT_FALSE(ParseNumeral(text, kShortest)) << text;
  }
  EXPECT_FALSE(ParseNumeral("12", 3));
  EXPECT_FALSE(ParseNumeral("1a2", 3));
}

TEST(Numeral, CountsTheDigitsAtTheEnd) {
  EXPECT_EQ(TrailingDigits(""), 0u);
  EXPECT_EQ(TrailingDigits("user:42"), 2u);
  EXPECT_EQ(TrailingDigits("42x"), 0u);
  EXPECT_EQ(TrailingDigits(std::string(30, '1')), kMaxNumeralDigits);
}

}  // namespace
}  // namespace zsetd::numeral_test
