#include <gtest/gtest.h>

#include "protocol/resp/request_parser.h"
#include "tests/protocol/resp/parsing.h"

namespace zsetd {
namespace {

using namespace std::string_literals;

std::string ErrorOf(const std::string& bytes, RequestLimits limits = {}) {
  return Parse({bytes}, limits).error;
}

TEST(RequestLimits, RefusesBadCounts) {
  for (const char* count : {"", "a", "+1", "01", " 1", "1 ", "-", "-0", "1a", "2147483648",
                            "99999999999999999999", "-9999999999999999999"}) {
    EXPECT_EQ(ErrorOf("*"s + count + "\r\n"), "ERR Protocol error: invalid multibulk length")
        << count;
  }
  EXPECT_EQ(ErrorOf("*2147483647\r\n"), "");
}

TEST(RequestLimits, RefusesBadBulkLengths) {
  for (const char* size : {"", "-1", "x", "+4", "04", "4x", "536870913", "99999999999999999999"}) {
    EXPECT_EQ(ErrorOf("*1\r\n$"s + size + "\r\n"), "ERR Protocol error: invalid bulk length")
        << size;
  }
  EXPECT_EQ(ErrorOf("*1\r\n$536870912\r\n"), "");
}

TEST(RequestLimits, NamesTheByteFoundInsteadOfADollar) {
  EXPECT_EQ(ErrorOf("*1\r\nPING\r\n"), "ERR Protocol error: expected '$', got 'P'");
  EXPECT_EQ(ErrorOf("*1\r\n\r\n"), "ERR Protocol error: expected '$', got '\r'");
  EXPECT_EQ(ErrorOf("*2\r\n$1\r\na\r\n:1\r\n"), "ERR Protocol error: expected '$', got ':'");
}

TEST(RequestLimits, RefusesUnbalancedQuotes) {
  for (const char* line : {"ECHO \"a\r\n", "ECHO 'a\r\n", "ECHO \"a\"b\r\n", "ECHO \"a\\\r\n"}) {
    EXPECT_EQ(ErrorOf(line), "ERR Protocol error: unbalanced quotes in request") << line;
  }
}

// A line of exactly the allowed size, then of one byte more, after `opening`.
void ExpectLineLimit(const std::string& opening, char first, const std::string& error) {
  const std::string longest(RequestLimits().max_line_bytes - 1, '1');
  EXPECT_EQ(ErrorOf(opening + first + longest), "");
  EXPECT_EQ(ErrorOf(opening + first + longest + '1'), error);
  EXPECT_EQ(ErrorOf(opening + first + longest + "1\r\n"), error) << "whole, and yet too long";
}

TEST(RequestLimits, RefusesLinesThatNeverEnd) {
  ExpectLineLimit("", '*', "ERR Protocol error: too big mbulk count string");
  ExpectLineLimit("*1\r\n", '$', "ERR Protocol error: too big bulk count string");
  ExpectLineLimit("*1\r\n", 'x', "ERR Protocol error: too big bulk count string");
  ExpectLineLimit("", 'x', "ERR Protocol error: too big inline request");
}

TEST(RequestLimits, AreThoseOfTheTimeWhenARequestIsTaken) {
  for (const std::string& bytes : {Multibulk({"a", "word"}), "*2\r\n$1\r\na\r\n$4\r\n"s}) {
    RequestParser parser({.max_bulk_bytes = 3, .max_words = 1});
    Feed(parser, Multibulk({"b"}) + bytes);
    EXPECT_EQ(parser.Upcoming().size(), 1u);
    ASSERT_EQ(parser.Next(), RequestParser::Result::kRequest);
    EXPECT_TRUE(parser.Upcoming().empty());
    parser.set_limits({.max_bulk_bytes = 3, .max_words = 2});
    EXPECT_TRUE(parser.Upcoming().empty());
    parser.set_limits({.max_bulk_bytes = 4, .max_words = 2});
    Parsed parsed;
    TakeAll(parser, parsed);
    EXPECT_EQ(parsed.error, "");
    EXPECT_EQ(parsed.requests.size(), bytes.ends_with("word\r\n") ? 1u : 0u);
  }
}

TEST(RequestLimits, HaveTheConfiguredValues) {
  const RequestLimits limits = {.max_bulk_bytes = 4, .max_words = 2};
  EXPECT_EQ(ErrorOf("*2\r\n$4\r\nPING\r\n$0\r\n\r\n", limits), "");
  EXPECT_EQ(ErrorOf("*3\r\n", limits), "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(ErrorOf("*1\r\n$5\r\n", limits), "ERR Protocol error: invalid bulk length");
}

// The parser refuses the same requests whether only their line has arrived or all bytes together.
TEST(RequestLimits, HoldForWholeRequests) {
  const RequestLimits limits = {.max_bulk_bytes = 4, .max_words = 2};
  EXPECT_EQ(ErrorOf(Multibulk({"PING", "PONG"}), limits), "");
  EXPECT_EQ(ErrorOf(Multibulk({"a", "b", "c"}), limits),
            "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(ErrorOf(Multibulk({"ECHO", "hello"}), limits),
            "ERR Protocol error: invalid bulk length");
  const RequestLimits strangers = {.unauthenticated = true};
  EXPECT_EQ(ErrorOf(Multibulk(Request(10, "word")), strangers), "");
  EXPECT_EQ(ErrorOf(Multibulk(Request(11, "word")), strangers),
            "ERR Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(ErrorOf(Multibulk({"AUTH", std::string(16384, 'x')}), strangers), "");
  EXPECT_EQ(ErrorOf(Multibulk({"AUTH", std::string(16385, 'x')}), strangers),
            "ERR Protocol error: unauthenticated bulk length");
}

TEST(RequestLimits, AreLowerForUnauthenticatedClients) {
  const RequestLimits limits = {.unauthenticated = true};
  EXPECT_EQ(ErrorOf("*10\r\n$16384\r\n", limits), "");
  EXPECT_EQ(ErrorOf("*11\r\n", limits), "ERR Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(ErrorOf("*2147483648\r\n", limits), "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(ErrorOf("*1\r\n$16385\r\n", limits), "ERR Protocol error: unauthenticated bulk length");
  EXPECT_EQ(ErrorOf("*1\r\n$536870913\r\n", limits), "ERR Protocol error: invalid bulk length");
}

TEST(RequestLimits, LowLimitsEndWithTheRequestThatAuthenticates) {
  RequestParser parser({.unauthenticated = true});
  Feed(parser, "*1\r\n$5\r\nHELLO\r\n*11\r\n$17000\r\n");
  EXPECT_EQ(parser.Next(), RequestParser::Result::kRequest);
  EXPECT_FALSE(parser.HasReadAhead());
  parser.set_limits({});
  EXPECT_EQ(parser.Next(), RequestParser::Result::kNeedMore);
}

TEST(RequestLimits, MayChangeBetweenRequests) {
  RequestParser parser;
  parser.set_limits({.max_bulk_bytes = 4});
  Feed(parser, "*1\r\n$5\r\nHELLO\r\n");
  EXPECT_EQ(parser.Next(), RequestParser::Result::kBroken);
}

TEST(RequestLimits, RequestsBeforeTheErrorAreServed) {
  const Parsed parsed = Parse({"PING\r\n*x\r\nPING\r\n"});
  EXPECT_EQ(parsed.requests, std::vector<Request>{{"PING"}});
  EXPECT_EQ(parsed.error, "ERR Protocol error: invalid multibulk length");
}

TEST(RequestLimits, ABrokenConnectionStaysBroken) {
  const Parsed parsed = Parse({"*x\r\n", "PING\r\n"});
  EXPECT_TRUE(parsed.requests.empty());
  EXPECT_EQ(parsed.error, "ERR Protocol error: invalid multibulk length");
}

}  // namespace
}  // namespace zsetd
