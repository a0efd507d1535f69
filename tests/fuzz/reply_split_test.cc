#include "tests/fuzz/reply_split.h"

#include <gtest/gtest.h>

namespace zsetd {
namespace {

using namespace std::string_view_literals;

size_t Count(std::string_view bytes) {
  const auto replies = SplitReplies(bytes);
  return replies ? replies->size() : 99;
}

TEST(SplitReplies, SplitsEveryKind) {
  EXPECT_EQ(Count(""), 0);
  EXPECT_EQ(Count("+OK\r\n-ERR x\r\n:-1\r\n$-1\r\n*-1\r\n$2\r\n\r\n\r\n"), 6);
  EXPECT_EQ(Count("_\r\n#t\r\n,1.5\r\n,inf\r\n(12\r\n=5\r\ntxt:x\r\n~1\r\n:1\r\n"), 7);
  EXPECT_EQ(Count("*2\r\n*1\r\n:1\r\n%1\r\n+a\r\n$0\r\n\r\n>1\r\n+x\r\n"), 2);
  EXPECT_EQ(Count("|1\r\n+a\r\n+b\r\n:1\r\n"), 1);
}

TEST(SplitReplies, RefusesMalformedAndIncompleteReplies) {
  for (const std::string_view bytes :
       {"+OK"sv, "OK\r\n"sv, "\r\n"sv, "+a\nb\r\n"sv, "-a\0b\r\n"sv, ":x\r\n"sv, "$2\r\nabc\r\n"sv,
        "$3\r\nab\r\n"sv, "*1\r\n"sv, "*-2\r\n"sv, "#y\r\n"sv, "~-1\r\n"sv, "?1\r\n"sv}) {
    EXPECT_EQ(Count(bytes), 99) << bytes;
  }
}

}  // namespace
}  // namespace zsetd
