#include "protocol/text/short_copy.h"

#include <gtest/gtest.h>

#include <string>

namespace zsetd {
namespace {

TEST(ShortCopy, CopiesExactlyTheLength) {
  for (size_t size = 0; size <= kShortBytes; ++size) {
    std::string from;
    for (size_t i = 0; i < size; ++i) from += static_cast<char>('0' + i);
    std::string to(size + 2, '.');
    EXPECT_EQ(CopyShort(to.data() + 1, from.data(), size), to.data() + 1 + size);
    EXPECT_EQ(to, '.' + from + '.');
  }
}

}  // namespace
}  // namespace zsetd
