#include "core/util/short_compare.h"

#include <gtest/gtest.h>

#include <string>

namespace zsetd {
namespace {

TEST(SameBytes, DetectsAnyDifferentByteAtAnyLength) {
  for (size_t size = 0; size < 70; ++size) {
    std::string bytes(size, 'a');
    const std::string same = bytes;
    EXPECT_TRUE(SameBytes(same.data(), bytes)) << size;
    for (char& byte : bytes) {
      byte = 'b';
      EXPECT_FALSE(SameBytes(same.data(), bytes)) << size;
      byte = 'a';
    }
  }
}

TEST(SameBytes, ReadsNothingBeyondThem) {
  for (size_t size = 0; size < 70; ++size) {
    const std::string all(size + 1, 'a');
    std::string other = all;
    other.back() = 'b';
    EXPECT_TRUE(SameBytes(all.data(), std::string_view(other).substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace zsetd
