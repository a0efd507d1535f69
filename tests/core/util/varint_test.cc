#include "core/util/varint.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace zsetd {
namespace {

constexpr std::pair<size_t, size_t> kLengthsAndBytes[] = {
    {0, 1},      {1, 1},      {127, 1},       {128, 2},       {300, 2},
    {16'383, 2}, {16'384, 3}, {2'097'151, 3}, {2'097'152, 4}, {SIZE_MAX, 10},
};

TEST(Varint, ReadsBackFromBothSides) {
  for (const auto& [length, bytes] : kLengthsAndBytes) {
    SCOPED_TRACE(length);
    EXPECT_EQ(VarintBytes(length), bytes);
    std::array<char, 16> buffer = {};

    char* end = WriteVarintForward(buffer.data(), length);
    EXPECT_EQ(end, buffer.data() + bytes);
    EXPECT_EQ(ReadVarintForward(buffer.data()).length, length);
    EXPECT_EQ(ReadVarintForward(buffer.data()).bytes, bytes);

    end = WriteVarintBackward(buffer.data(), length);
    EXPECT_EQ(end, buffer.data() + bytes);
    EXPECT_EQ(ReadVarintBackward(end).length, length);
    EXPECT_EQ(ReadVarintBackward(end).bytes, bytes);
  }
}

}  // namespace
}  // namespace zsetd
