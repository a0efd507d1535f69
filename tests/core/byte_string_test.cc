#include "core/byte_string.h"

#include <gtest/gtest.h>

#include <string>

namespace zsetd {
namespace {

using std::operator""sv;

TEST(ByteString, HoldsAnyBytes) {
  EXPECT_EQ(ByteString().view(), "");
  EXPECT_EQ(ByteString("a\0b"sv).view(), "a\0b"sv);
}

TEST(ByteString, AppendsBehind) {
  ByteString string("ab"sv);
  string.Append("c\0"sv);
  EXPECT_EQ(string.view(), "abc\0"sv);
}

TEST(ByteString, OverwritesInPlace) {
  ByteString string("Hello World"sv);
  string.Overwrite(6, "Redis");
  EXPECT_EQ(string.view(), "Hello Redis");
  string.Overwrite(9, "dy!!");
  EXPECT_EQ(string.view(), "Hello Reddy!!");
  string.Overwrite(0, "");
  EXPECT_EQ(string.view(), "Hello Reddy!!");
}

TEST(ByteString, FillsTheGapBeforeAnOffsetWithZeroBytes) {
  ByteString string("a"sv);
  string.Overwrite(3, "b");
  EXPECT_EQ(string.view(), "a\0\0b"sv);
}

TEST(ByteString, RevisionChangesWithEveryChange) {
  ByteString string("a"sv);
  uint32_t last = string.revision();
  const auto changed = [&] { return std::exchange(last, string.revision()) != string.revision(); };
  EXPECT_FALSE(changed());
  string.Append("b");
  EXPECT_TRUE(changed());
  string.Overwrite(0, "c");
  EXPECT_TRUE(changed());
  string.Assign("d");
  EXPECT_TRUE(changed());
}

TEST(ByteString, KnowsWhetherItWasEditedInPlace) {
  ByteString string("a"sv);
  EXPECT_FALSE(string.edited_in_place());
  string.Append("b");
  EXPECT_TRUE(string.edited_in_place());
  string.Assign("c");
  EXPECT_FALSE(string.edited_in_place());
  string.Overwrite(0, "d");
  EXPECT_TRUE(string.edited_in_place());
}

TEST(ByteString, ShortOneTakesNoHeap) {
  EXPECT_EQ(ByteString("short"sv).BytesUsed(), 0u);
  EXPECT_GE(ByteString(std::string(100, 'x')).BytesUsed(), 100u);
}

}  // namespace
}  // namespace zsetd
