#include "protocol/resp/reply_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace zsetd::reply_reader_test {
namespace {

using Chance = std::mt19937_64;

std::string RandomReply(Chance& chance, int depth);

std::string RandomParts(Chance& chance, size_t count, int depth) {
  std::string parts;
  for (size_t i = 0; i < count; ++i) parts += RandomReply(chance, depth - 1);
  return parts;
}

std::string RandomAggregate(Chance& chance, int depth) {
  const char kind = "*~>%|"[chance() % 5];
  const size_t size = chance() % 4;
  const size_t parts = kind == '%' ? 2 * size : kind == '|' ? 2 * size + 1 : size;
  return kind + std::to_string(size) + "\r\n" + RandomParts(chance, parts, depth);
}

std::string RandomLeaf(Chance& chance) {
  static constexpr std::string_view kLines[] = {
      "+OK\r\n",      "-ERR $3 no\r\n",
      ":-42\r\n",     ":7\r\n",
      "$-1\r\n",      "*-1\r\n",
      "_\r\n",        "#t\r\n",
      ",1.5e+21\r\n", "(123456789012345678901234567890\r\n"};
  if (chance() % 2 == 0) return std::string(kLines[chance() % std::size(kLines)]);
  const std::string text = chance() % 2 == 0 ? "\r\n$5\r\n" : std::string(chance() % 20, 'x');
  return "$=!"[chance() % 3] + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string RandomReply(Chance& chance, int depth) {
  return depth > 0 && chance() % 2 == 0 ? RandomAggregate(chance, depth) : RandomLeaf(chance);
}

TEST(ReplyLength, IsKnownOnceTheReplyIsWhole) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Chance chance(seed);
    const std::string reply = RandomReply(chance, 4);
    for (size_t size = 0; size < reply.size(); ++size) {
      ASSERT_EQ(ReplyLength(reply.substr(0, size)), std::nullopt) << reply;
    }
    ASSERT_EQ(ReplyLength(reply), reply.size()) << reply;
    ASSERT_EQ(ReplyLength(reply + "+next\r\n"), reply.size()) << reply;
  }
}

TEST(ReplyLength, FollowsAnyDepth) {
  std::string nested;
  for (int i = 0; i < 200'000; ++i) nested += "*1\r\n";
  EXPECT_EQ(ReplyLength(nested), std::nullopt);
  EXPECT_EQ(ReplyLength(nested + ":1\r\n"), nested.size() + 4);
}

TEST(ReplyLength, OfMalformedBytesIsOneLine) {
  for (std::string line : {"\r\n", "hello\r\n", "$x\r\n", "*\r\n", "$-2\r\n",
                           "*99999999999999999\r\n", "$?\r\n", "%1.5\r\n"}) {
    EXPECT_EQ(ReplyLength(line + "+OK\r\n"), line.size()) << line;
  }
}

TEST(ReplyLength, SurvivesNoise) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    SCOPED_TRACE(seed);
    Chance chance(seed);
    std::string noise(100, '\0');
    for (char& c : noise) c = "*$%|>~=!:0129-\r\n"[chance() % 16];
    const auto length = ReplyLength(noise);
    ASSERT_LE(length.value_or(0), noise.size());
  }
}

}  // namespace
}  // namespace zsetd::reply_reader_test
