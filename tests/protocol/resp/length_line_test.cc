#include "protocol/resp/length_line.h"

#include <gtest/gtest.h>

#include <string>

namespace zsetd::length_line_test {
namespace {

constexpr std::string_view kBehind = "PING\r\n";

struct Read {
  size_t bytes = 0;
  int64_t length = -1;

  bool operator==(const Read&) const = default;
};

Read ReadFrom(std::string_view line, std::string_view behind = kBehind) {
  Read read;
  read.bytes = ReadLengthLine(std::string(line) + std::string(behind), '$', read.length);
  return read;
}

TEST(LengthLine, ReadsUpToFourDigits) {
  EXPECT_EQ(ReadFrom("$0\r\n"), (Read{4, 0}));
  EXPECT_EQ(ReadFrom("$7\r\n"), (Read{4, 7}));
  EXPECT_EQ(ReadFrom("$10\r\n"), (Read{5, 10}));
  EXPECT_EQ(ReadFrom("$9999\r\n"), (Read{7, 9999}));
  EXPECT_EQ(ReadFrom("$9999\r\n", ""), (Read{7, 9999}));
}

TEST(LengthLine, OtherFormsAreNotRead) {
  for (const std::string_view line :
       {"*7\r\n", "$\r\n", "$10000\r\n", "$03\r\n", "$00\r\n", "$-1\r\n", "$+1\r\n", "$ 1\r\n",
        "$1 \r\n", "$1x\r\n", "$1\n\r\n", "$0x10\r\n", "7\r\n"}) {
    EXPECT_EQ(ReadFrom(line), Read()) << line;
  }
}

TEST(LengthLine, IsNotReadIfTooFewBytesFollow) {
  EXPECT_EQ(ReadFrom("", ""), Read());
  EXPECT_EQ(ReadFrom("$", ""), Read());
  EXPECT_EQ(ReadFrom("$1234\r", ""), Read());
  EXPECT_EQ(ReadFrom("$12345", ""), Read());
  EXPECT_EQ(ReadFrom("$0\r\n", "\r\n"), Read());
  EXPECT_EQ(ReadFrom("$1\r\n", "x\r\n"), (Read{4, 1}));
}

}  // namespace
}  // namespace zsetd::length_line_test
