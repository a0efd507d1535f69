#include "protocol/resp/request_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/protocol/resp/parsing.h"

namespace zsetd {
namespace {

using namespace std::string_literals;
using Requests = std::vector<Request>;

Requests RequestsIn(std::string_view bytes) {
  const Parsed parsed = Parse({bytes});
  EXPECT_EQ(parsed.error, "");
  return parsed.requests;
}

TEST(RequestParser, YieldsTheWordsOfAMultibulk) {
  EXPECT_EQ(RequestsIn("*2\r\n$3\r\nGET\r\n$5\r\nboard\r\n"), (Requests{{"GET", "board"}}));
}

TEST(RequestParser, WordsAreAnyBytes) {
  const Request request = {"SET", "", "\r\n$1\r\n\0\xff"s};
  EXPECT_EQ(RequestsIn(Multibulk(request)), Requests{request});
}

TEST(RequestParser, YieldsPipelinedRequestsInOrder) {
  EXPECT_EQ(RequestsIn("*1\r\n$4\r\nPING\r\nECHO a\r\n*1\r\n$4\r\nQUIT\r\n"),
            (Requests{{"PING"}, {"ECHO", "a"}, {"QUIT"}}));
}

TEST(RequestParser, InlineLinesEndInLfOrCrLf) {
  EXPECT_EQ(RequestsIn("PING\nECHO 'a b' \"\\x41\"\r\n"),
            (Requests{{"PING"}, {"ECHO", "a b", "A"}}));
}

TEST(RequestParser, AnnotationsAreNotUnquoted) {
  const std::string line = "#it's \"a  comment";
  EXPECT_EQ(Parse({line + "\r\nPING\n"}, {.annotations = true}).requests,
            (std::vector<Request>{{line}, {"PING"}}));
  EXPECT_EQ(Parse({line + "\r\n"}).error, "ERR Protocol error: unbalanced quotes in request");
}

TEST(RequestParser, SkipsRequestsWithoutWords) {
  EXPECT_EQ(RequestsIn("*0\r\n*-1\r\n\r\n\n  \t\r\n*-7\r\nPING\r\n"), (Requests{{"PING"}}));
}

TEST(RequestParser, AnInlineRequestMayBeOneEmptyWord) {
  EXPECT_EQ(RequestsIn("\"\"\r\n"), (Requests{{""}}));
}

// As in Redis, the parser checks only the CR of a line, and no bytes after a bulk.
TEST(RequestParser, DoesNotCheckBytesWhosePositionIsKnown) {
  EXPECT_EQ(RequestsIn("*1\rX$4\rYPINGab"), (Requests{{"PING"}}));
}

TEST(RequestParser, WaitsForTheLastByte) {
  const std::string_view request = "*1\r\n$4\r\nPING\r\n";
  for (size_t size = 0; size < request.size(); ++size) {
    EXPECT_EQ(Parse({request.substr(0, size)}), Parsed()) << size;
  }
}

TEST(RequestParser, WordsAreViewsIntoTheReadBytes) {
  RequestParser parser;
  const std::span<char> space = parser.Space();
  Feed(parser, "*1\r\n$4\r\nPING\r\n");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_EQ(parser.argv()[0].data(), space.data() + 8);
}

TEST(RequestParser, CountsTheBytesThatAreNotYetTaken) {
  RequestParser parser;
  Feed(parser, "PING\r\nECH");
  EXPECT_EQ(parser.buffered_bytes(), 9);
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_EQ(parser.buffered_bytes(), 3);
  EXPECT_EQ(parser.Next(), RequestParser::Result::kNeedMore);
  EXPECT_EQ(parser.buffered_bytes(), 3);
}

TEST(RequestParser, ReportsTheNextRequest) {
  RequestParser parser;
  Feed(parser, "*1\r\n$1\r\na\r\n*2\r\n$1\r\nb\r\n$1\r\nc\r\n*1\r\n$1\r\nd\r\n*1\r\n$9\r\nx");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_TRUE(parser.HasReadAhead());
  ASSERT_EQ(parser.Ahead().size(), 3u);
  EXPECT_EQ(parser.Ahead()[1][1], "c");
  parser.Space();
  EXPECT_EQ(parser.Ahead()[2][0], "d");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_EQ(parser.argv()[0], "d");
  EXPECT_FALSE(parser.HasReadAhead());
  EXPECT_EQ(parser.Next(), RequestParser::Result::kNeedMore);
}

// A caller may look at requests, and take them later, after room was made or given back.
TEST(RequestParser, KeepsUpcomingRequestsUntilTheyAreTaken) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    RequestParser parser;
    int fed = 0;
    int taken = 0;
    for (int step = 0; step < 100; ++step) {
      switch (random() % 4) {
        case 0:
          for (unsigned more = random() % 20; more > 0; --more) {
            const std::string text = std::to_string(fed++);
            Feed(parser, "*1\r\n$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
          }
          break;
        case 1:
          (void)parser.Space();
          break;
        case 2:
          parser.Shrink();
          break;
        default:
          if (parser.Upcoming().empty()) {
            ASSERT_EQ(taken, fed);
            break;
          }
          EXPECT_EQ(parser.Upcoming().front()[0], std::to_string(taken));
          if (random() % 2 == 0) break;
          ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
          EXPECT_EQ(parser.argv()[0], std::to_string(taken++));
      }
    }
  }
}

// The array of words has room for many. Shrinking it would move it.
TEST(RequestParser, KeepsBytesReadAheadWhenItShrinks) {
  RequestParser parser;
  Feed(parser, Multibulk(Request(100, "word")));
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  ASSERT_EQ(parser.Next(), RequestParser::Result::kNeedMore);
  Feed(parser, "*1\r\n$1\r\na\r\n*2\r\n$1\r\nb\r\n$1\r\nc\r\n*1\r\n$1\r\nd\r\n");
  ASSERT_EQ(parser.Upcoming().size(), 3u);
  parser.Shrink();
  Parsed parsed;
  TakeAll(parser, parsed);
  EXPECT_EQ(parsed.requests, (Requests{{"a"}, {"b", "c"}, {"d"}}));
}

TEST(RequestParser, ReportsWaitingRequestsBeforeTheyAreTaken) {
  RequestParser parser;
  EXPECT_TRUE(parser.Upcoming().empty());
  Feed(parser, "*1\r\n$1\r\na\r\n*2\r\n$1\r\nb\r\n$1\r\nc\r\n*1\r\n$9\r\nx");
  ASSERT_EQ(parser.Upcoming().size(), 2u);
  EXPECT_EQ(parser.Upcoming()[1][1], "c");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_EQ(parser.argv()[0], "a");
  ASSERT_EQ(parser.Upcoming().size(), 1u);
  EXPECT_EQ(parser.Upcoming()[0][0], "b");
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_TRUE(parser.Upcoming().empty());
  EXPECT_EQ(parser.Next(), RequestParser::Result::kNeedMore);
}

TEST(RequestParser, ReportsAnErrorAfterAllEarlierRequests) {
  RequestParser parser;
  Feed(parser, "*1\r\n$1\r\na\r\n*x\r\n");
  EXPECT_EQ(parser.Upcoming().size(), 1u);
  ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_TRUE(parser.Upcoming().empty());
  EXPECT_EQ(parser.Next(), RequestParser::Result::kBroken);
}

TEST(RequestParser, HoldsUntakenRequestsWhileMoreArrive) {
  RequestParser parser;
  Requests sent;
  Parsed parsed;
  for (int i = 0; i < 2000; ++i) {
    sent.push_back({"SET", std::string(i % 97, 'k'), std::to_string(i)});
    Feed(parser, Multibulk(sent.back()));
    if (i % 3 == 0 && parser.Next() == RequestParser::Result::kRequest) {
      parsed.requests.emplace_back(parser.argv().begin(), parser.argv().end());
    }
  }
  TakeAll(parser, parsed);
  EXPECT_EQ(parsed.requests, sent);
}

}  // namespace
}  // namespace zsetd
