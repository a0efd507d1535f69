#include "core/util/byte_scan.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

// The vectors have no room to spare, so that the address sanitizer sees a read past the end.
TEST(ByteSearch, WideAndPortablePathsAgree) {
  Rng rng(3);
  for (size_t count = 0; count <= 130; ++count) {
    std::vector<uint8_t> bytes(count);
    for (uint8_t& byte : bytes) byte = rng.Below(5) == 0 ? 255 : rng.Below(4);
    bytes.shrink_to_fit();
    EXPECT_EQ(SumBytes(bytes.data(), count, 255, 8),
              portable::SumBytes(bytes.data(), count, 255, 8));

    std::vector<size_t> found, expected;
    FindByte(bytes.data(), count, 2, [&](size_t i) { return found.push_back(i), false; });
    portable::FindByte(bytes.data(), 0, count, 2,
                       [&](size_t i) { return expected.push_back(i), false; });
    EXPECT_EQ(found, expected);
  }
}

TEST(ByteSearch, StopsWhenTheCallbackReturnsTrue) {
  const std::vector<uint8_t> bytes(40, 7);
  size_t last = 0;
  EXPECT_TRUE(FindByte(bytes.data(), bytes.size(), 7, [&](size_t i) { return last = i, i == 20; }));
  EXPECT_EQ(last, 20u);
}

TEST(ByteSearch, HasByteFindsOneAtEveryPlace) {
  for (size_t count = 0; count <= 70; ++count) {
    std::vector<char> bytes(count, '\0');
    bytes.shrink_to_fit();
    const std::string_view text(bytes.data(), count);
    ASSERT_FALSE(HasByte(text, '{')) << count;
    ASSERT_EQ(HasByte(text, '\0'), count > 0) << count;
    for (char& byte : bytes) {
      byte = '{';
      ASSERT_TRUE(HasByte(text, '{')) << count << " " << &byte - bytes.data();
      byte = '\0';
    }
  }
}

}  // namespace
}  // namespace zsetd
