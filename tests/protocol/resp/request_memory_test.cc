#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "protocol/resp/request_parser.h"
#include "tests/protocol/resp/parsing.h"

namespace zsetd {
namespace {

constexpr size_t kQuiet = 20u << 10;   // a connection that has no request in progress
constexpr size_t kSmall = 100u << 10;  // one that has been busy

size_t BytesAfter(std::string_view bytes) {
  RequestParser parser;
  Feed(parser, bytes);
  parser.Next();
  parser.Space();
  return parser.BytesUsed();
}

TEST(RequestMemory, AnAnnouncementCostsNothing) {
  EXPECT_LE(BytesAfter(""), kQuiet);
  EXPECT_LE(BytesAfter("*1\r\n$536870912\r\n"), 2 * kQuiet);
  EXPECT_LE(BytesAfter("*2147483647\r\n"), 2 * kQuiet);
}

TEST(RequestMemory, GrowsWithWhatHasArrived) {
  const std::string piece(10'000, 'x');
  RequestParser parser;
  Feed(parser, "*1\r\n$536870912\r\n");
  for (size_t arrived = 0; arrived < 20'000'000; arrived += piece.size()) {
    Feed(parser, piece);
    ASSERT_EQ(parser.Next(), RequestParser::Result::kNeedMore);
    ASSERT_LE(parser.BytesUsed(), 4 * arrived + kSmall);
  }
}

// Feeds the bytes of a bulk in pieces. The parser uses at most `most` bytes in the meantime.
void FeedBulk(RequestParser& parser, size_t size, size_t most) {
  const std::string piece(10'000, 'x');
  for (size_t arrived = 0; arrived < size; arrived += piece.size()) {
    Feed(parser, piece);
    ASSERT_LE(parser.BytesUsed(), most);
    ASSERT_EQ(parser.Next(), RequestParser::Result::kNeedMore);
  }
}

TEST(RequestMemory, IsNoMoreThanALargeBulkNeeds) {
  const size_t size = 5'000'000;
  RequestParser parser;
  Feed(parser, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5000000\r\n");
  FeedBulk(parser, size, size + kSmall);
  Feed(parser, "\r\n");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_EQ(parser.argv()[2].size(), size);
}

TEST(RequestMemory, IsLittleMoreThanALargeBulkNeedsIfOthersFollow) {
  const size_t size = 5'000'000;
  RequestParser parser;
  Feed(parser, "*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$5000000\r\n");
  FeedBulk(parser, size, size + size / 4 + kSmall);
  Feed(parser, "\r\n$2\r\nEX\r\n$3\r\n100\r\n");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_EQ(parser.argv()[2].size(), size);
}

// Returns how many bytes the parser moves while a request arrives in pieces.
size_t MovedBytes(const std::string& request, size_t piece) {
  RequestParser parser;
  const char* end = parser.Space().data();
  size_t moved = 0;
  for (size_t at = 0; at < request.size(); at += piece) {
    const std::string_view arrived = std::string_view(request).substr(at, piece);
    const std::span<char> space = parser.Space();
    if (space.data() != end) moved += parser.buffered_bytes();
    std::ranges::copy(arrived, space.data());
    parser.Arrived(arrived.size());
    end = space.data() + arrived.size();
    parser.Next();
  }
  EXPECT_EQ(parser.buffered_bytes(), 0u);
  return moved;
}

TEST(RequestMemory, IsMovedAFewTimesWhateverTheSizesOfTheWords) {
  constexpr size_t kBytes = 2u << 20;
  for (const size_t word : {50u, 2000u, 20'000u, 300'000u, 1u << 20}) {
    Request request(kBytes / word, std::string(word, 'x'));
    for (const char* last : {"", "10", "the last argument of the request"}) {
      request.push_back(last);
      const std::string bytes = Multibulk(request);
      for (const size_t piece : {1400u, 5000u, 16u << 10}) {
        EXPECT_LE(MovedBytes(bytes, piece), 6 * bytes.size()) << word << ' ' << piece;
      }
    }
  }
}

TEST(RequestMemory, IsReleasedOnRequest) {
  RequestParser parser;
  Feed(parser,
       Multibulk({"SET", "k", std::string(5'000'000, 'x')}) + "*2\r\n$4\r\nECHO\r\n$3\r\nab");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  ASSERT_EQ(parser.Next(), RequestParser::Result::kNeedMore);
  parser.Shrink();
  EXPECT_LE(parser.BytesUsed(), kQuiet);
  Feed(parser, "c\r\n");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_EQ(parser.argv()[1], "abc");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kNeedMore);
  parser.Shrink();
  EXPECT_EQ(parser.BytesUsed(), 0u);
  Feed(parser, "PING\r\nPING\r\n");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  parser.Shrink();  // the next has arrived already
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_EQ(parser.argv()[0], "PING");
}

TEST(RequestMemory, IsReleasedAfterALargeBulk) {
  const std::string large = Multibulk({"SET", "k", std::string(5'000'000, 'x')});
  EXPECT_LE(BytesAfter(large), kQuiet);
  EXPECT_LE(BytesAfter(large + "PI"), 2 * kQuiet);
}

TEST(RequestMemory, IsReleasedAfterManyWords) {
  EXPECT_LE(BytesAfter(Multibulk(Request(100'000, "x"))), kQuiet);
  std::string line = "x";
  for (int i = 0; i < 30'000; ++i) line += " x";
  EXPECT_LE(BytesAfter(line + "\r\n"), kSmall);
}

TEST(RequestMemory, StaysSmallUnderAnEndlessPipeline) {
  const std::string request = Multibulk({"ZADD", "board", "1", "member"});
  std::string stream;
  for (int i = 0; i < 1000; ++i) stream += request;
  RequestParser parser;
  size_t taken = 0;
  Feed(parser, request.substr(0, 9));
  for (int round = 0; round < 100; ++round) {  // no read ends at the end of a request
    Feed(parser, stream.substr(9) + stream.substr(0, 9));
    while (parser.Next() == RequestParser::Result::kRequest) ++taken;
    ASSERT_LE(parser.BytesUsed(), 4 * stream.size());
    parser.Space();
    ASSERT_LE(parser.BytesUsed(), kSmall);
  }
  EXPECT_EQ(taken, 100'000);
}

}  // namespace
}  // namespace zsetd
