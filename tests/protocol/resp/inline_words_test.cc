#include "protocol/resp/inline_words.h"

#include <gtest/gtest.h>

namespace zsetd::inline_words_test {
namespace {

using namespace std::string_literals;
using Args = std::vector<std::string>;

struct Case {
  std::string line;
  std::optional<Args> words;  // nothing: refused
};

// Each line as redis-server 7.0.15 parses it, except the last one, which redis-server ends at a
// zero byte.
const Case kCases[] = {
    {"", Args{}},
    {" \t\v\f\r ", Args{}},
    {"PING", Args{"PING"}},
    {"  SET\tk  v ", Args{"SET", "k", "v"}},
    {R"("")", Args{""}},
    {R"('' "")", Args{"", ""}},
    {R"("a b" 'c d')", Args{"a b", "c d"}},
    {R"("\n\r\t\b\a\"\\\q")", Args{"\n\r\t\b\a\"\\q"}},
    {R"("\x41\x0a\xfF\x00")", Args{"A\n\xff\0"s}},
    {R"("\xzz\x4\x")", Args{"xzzx4x"}},
    {R"('a\'b\n\\ ')", Args{R"(a'b\n\\ )"}},
    {R"(a"b c")", Args{"ab c"}},
    {R"(a'b c')", Args{"ab c"}},
    {R"(a\nb)", Args{R"(a\nb)"}},
    {"\"a\"\v\"b\"", Args{"a", "b"}},
    {"a\vb\fc", Args{"a\vb\fc"}},
    {"a\xff", Args{"a\xff"}},
    {R"("a)", std::nullopt},
    {R"('a)", std::nullopt},
    {R"(a")", std::nullopt},
    {R"("a\")", std::nullopt},
    {R"('a\')", std::nullopt},
    {R"("a\)", std::nullopt},
    {R"('a\\')", std::nullopt},
    {R"("a"b)", std::nullopt},
    {R"('a'b)", std::nullopt},
    {R"("a"'b')", std::nullopt},
    {"a\0b"s, Args{"a\0b"s}},
};

TEST(SplitWords, QuotesLikeRedisCli) {
  for (const Case& c : kCases) EXPECT_EQ(SplitWords(c.line), c.words) << c.line;
}

TEST(QuoteWord, IsReadBackByteForByte) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    EXPECT_EQ(SplitWords(QuoteWord(one)), Args{one});
    every_byte += one;
  }
  for (const std::string& word : {""s, "two words"s, R"(\x41 "quoted")"s, every_byte}) {
    EXPECT_EQ(SplitWords(QuoteWord(word)), Args{word});
  }
}

TEST(QuoteWord, LeavesPlainWordsAlone) {
  EXPECT_EQ(QuoteWord("/var/log/zsetd.log"), "/var/log/zsetd.log");
  EXPECT_EQ(QuoteWord(""), "\"\"");
  EXPECT_EQ(QuoteWord("a b"), "\"a b\"");
}

}  // namespace
}  // namespace zsetd::inline_words_test
