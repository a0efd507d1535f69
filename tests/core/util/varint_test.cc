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

TEST(LengthMark, IsReadAsWrittenFromBothSides) {
  for (const auto& [length, bytes] : kLengthsAndBytes) {
    SCOPED_TRACE(length);
    EXPECT_EQ(LengthMarkBytes(length), bytes);
    std::array<char, 16> buffer = {};

    char* end = WriteLengthForward(buffer.data(), length);
    EXPECT_EQ(end, buffer.data() + bytes);
    EXPECT_EQ(ReadLengthForward(buffer.data()).length, length);
    EXPECT_EQ(ReadLengthForward(buffer.data()).bytes, bytes);

    end = WriteLengthBackward(buffer.data(), length);
    EXPECT_EQ(end, buffer.data() + bytes);
    EXPECT_EQ(ReadLengthBackward(end).length, length);
    EXPECT_EQ(ReadLengthBackward(end).bytes, bytes);
  }
}

}  // namespace
}  // namespace zsetd
