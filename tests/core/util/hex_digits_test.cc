// Digits are read back as they were packed, and other texts are refused.
#include "core/util/hex_digits.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/util/rng.h"

namespace zsetd::hex_digits_test {
namespace {

constexpr size_t kMost = 100;

std::string Digits(Rng& rng, size_t count) {
  std::string text;
  while (text.size() < count) text += "0123456789abcdef"[rng.Below(16)];
  return text;
}

TEST(HexDigits, AreReadBack) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (size_t size = kLeastHexDigits; size <= kMost; size += 2) {
    const std::string text = Digits(rng, size);
    std::string packed(size / 2 + 1, '#'), read(size + 1, '#');
    ASSERT_TRUE(PackHexDigits(text, packed.data())) << text;
    UnpackHexDigits(packed.data(), size, read.data());
    EXPECT_EQ(read, text + "#");
    EXPECT_EQ(packed.back(), '#');
  }
}

TEST(HexDigits, TwoTakeAByte) {
  std::string packed(6, '\0');
  ASSERT_TRUE(PackHexDigits("0123456789af", packed.data()));
  EXPECT_EQ(packed, "\x01\x23\x45\x67\x89\xaf");
}

TEST(HexDigits, AnyOtherCharacterIsRefused) {
  Rng rng(1);
  char packed[kMost / 2];
  for (const size_t size : {8, 10, 24, 26}) {
    for (size_t place = 0; place < size; ++place) {
      std::string text = Digits(rng, size);
      for (int character = 0; character < 256; ++character) {
        text[place] = static_cast<char>(character);
        const bool is_digit =
            (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
        ASSERT_EQ(PackHexDigits(text, packed), is_digit) << text;
      }
    }
  }
}

}  // namespace
}  // namespace zsetd::hex_digits_test
