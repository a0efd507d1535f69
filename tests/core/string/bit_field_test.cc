#include "core/string/bit_field.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "core/string/bits.h"
#include "core/util/rng.h"

namespace zsetd {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(BitField, KeepsWrittenNumbersAndTheirNeighbours) {
  SCOPED_TRACE("seed 1");
  Rng rng(1);
  for (int i = 0; i < 10000; ++i) {
    std::string bytes(20, '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng.Next());
    const std::string before = bytes;
    const bool has_sign = rng.Below(2) == 1;
    const BitFieldType type = {has_sign, static_cast<int>(1 + rng.Below(63 + has_sign))};
    const uint64_t position = rng.Below(8 * bytes.size() - type.bits + 1);
    const auto wanted = static_cast<int64_t>(rng.Next());
    const int64_t value = *FittedValue(type, wanted, Overflow::kWrap);
    WriteBitField(bytes, type, position, value);
    ASSERT_EQ(ReadBitField(bytes, type, position), value);
    for (uint64_t at = 0; at < 8 * bytes.size(); ++at) {
      if (at >= position && at < position + type.bits) continue;
      ASSERT_EQ(BitAt(bytes, at), BitAt(before, at));
    }
  }
}

TEST(BitField, NumbersThatDoNotFitWrapOrStopOrFail) {
  const BitFieldType i8 = {true, 8}, u8 = {false, 8}, i64 = {true, 64}, u63 = {false, 63};
  EXPECT_EQ(FittedSum(i8, 127, 1, Overflow::kWrap), -128);
  EXPECT_EQ(FittedSum(i8, 127, 1, Overflow::kSaturate), 127);
  EXPECT_EQ(FittedSum(i8, -128, -1, Overflow::kSaturate), -128);
  EXPECT_EQ(FittedSum(i8, 127, 1, Overflow::kFail), std::nullopt);
  EXPECT_EQ(FittedSum(i8, 127, -1, Overflow::kFail), 126);
  EXPECT_EQ(FittedSum(u8, 0, -1, Overflow::kWrap), 255);
  EXPECT_EQ(FittedSum(u8, 0, -1, Overflow::kSaturate), 0);
  EXPECT_EQ(FittedSum(i64, kMost, 1, Overflow::kWrap), kLeast);
  EXPECT_EQ(FittedSum(i64, kLeast, kLeast, Overflow::kSaturate), kLeast);
  EXPECT_EQ(FittedSum(u63, kMost, kMost, Overflow::kSaturate), kMost);
  EXPECT_EQ(FittedValue(u8, -1, Overflow::kSaturate), 255);
  EXPECT_EQ(FittedValue(i8, kLeast + 128, Overflow::kSaturate), -128);
  EXPECT_EQ(FittedValue(i8, kLeast + 127, Overflow::kSaturate), 127) << "as in Redis";
  EXPECT_EQ(FittedValue(i64, kLeast, Overflow::kSaturate), kLeast);
  EXPECT_EQ(FittedValue(u8, -1, Overflow::kFail), std::nullopt);
  EXPECT_EQ(FittedValue(i8, -129, Overflow::kWrap), 127);
}

}  // namespace
}  // namespace zsetd
