#include "protocol/rdb/crc64.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/protocol/rdb/crc64_reference.h"

namespace zsetd {
namespace {

TEST(Crc64, EqualsRedissChecksum) {
  EXPECT_EQ(Crc64(""), 0u);
  EXPECT_EQ(Crc64("123456789"), 0xe9c6d914c4b8d9cau);
}

// Every length around the sixteen bytes of a register, at every alignment.
TEST(Crc64, EqualsTheDefinitionAtEveryLengthAndAlignment) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>(i * i * 31 + i);
  for (size_t start = 0; start < 16; ++start) {
    for (size_t length = 0; start + length <= 200; ++length) {
      const std::string_view part = std::string_view(text).substr(start, length);
      ASSERT_EQ(Crc64(part), ReferenceCrc64(part)) << start << " " << length;
    }
  }
  EXPECT_EQ(Crc64(text), ReferenceCrc64(text));
}

TEST(Crc64, ContinuesFromTheChecksumOfThePrecedingBytes) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>(i * i * 31 + i);
  for (size_t length = 0; length <= text.size(); ++length) {
    const std::string_view start = std::string_view(text).substr(0, length);
    ASSERT_EQ(Crc64(std::string_view(text).substr(length), Crc64(start)), ReferenceCrc64(text));
  }
}

}  // namespace
}  // namespace zsetd
