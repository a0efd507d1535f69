#include "server/engine/command/command_name_index.h"

#include <gtest/gtest.h>

#include <string>

namespace zsetd {
namespace {

TEST(NameIndex, FindsNamesOfEveryLengthInAnyCase) {
  std::vector<std::string> texts;
  for (size_t length = 1; length <= 40; ++length) texts.push_back(std::string(length, 'q'));
  texts.insert(texts.end(), {"zrangebyscore", "zrangestore", "zremrangebyscore", "a_b", "a|b"});
  const NameIndex index({texts.begin(), texts.end()});
  for (size_t place = 0; place < texts.size(); ++place) {
    std::string upper = texts[place];
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    EXPECT_EQ(index.Find(texts[place]), place);
    EXPECT_EQ(index.Find(upper), place);
  }
}

TEST(NameIndex, DoesNotTakeOneNameForAnother) {
  const NameIndex index({"get", "georadius_ro", "zrangebyscore"});
  // The last ones differ from names only in the bit of the letter case, or in the highest bit.
  for (const char* name : {"", "g", "ge", "gets", "got", "zrangebylexcore", "georadius\x7fro",
                           "\x07et", "\307et", "\347ET"}) {
    EXPECT_EQ(index.Find(name), 3u) << name;
  }
  EXPECT_EQ(index.Find(std::string(100000, 'z')), 3u);
}

TEST(NameIndex, ComparesTheMiddleOfLongNames) {
  const NameIndex index({"georadiusbymember_ro"});
  EXPECT_EQ(index.Find("GeoRadiusByMember_RO"), 0u);
  EXPECT_EQ(index.Find("georadiusbxmember_ro"), 1u);
}

TEST(NameIndex, IgnoresTheCaseOfLettersOnly) {
  const NameIndex index({"a`b", "a{b", "a[b", "a@b"});
  EXPECT_EQ(index.Find("A`B"), 0u);
  EXPECT_EQ(index.Find("A{B"), 1u);
  EXPECT_EQ(index.Find("A[B"), 2u);
  EXPECT_EQ(index.Find("A@B"), 3u);
}

TEST(NameIndex, EmptyIndexFindsNothing) { EXPECT_EQ(NameIndex({}).Find("get"), 0u); }

}  // namespace
}  // namespace zsetd
