#include "protocol/resp/reply_writer.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace zsetd::reply_writer_test {
namespace {

struct Case {
  std::function<void(ReplyWriter&)> write;
  std::string resp2;
  std::string resp3;
};

std::string Written(const Case& c, Protocol protocol) {
  OutputBuffer out;
  ReplyWriter writer(out);
  writer.set_protocol(protocol);
  c.write(writer);
  return std::string(out.view());
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const Case kCases[] = {
    {[](auto& to) { to.Ok(); }, "+OK\r\n", "+OK\r\n"},
    {[](auto& to) { to.Simple("PONG"); }, "+PONG\r\n", "+PONG\r\n"},
    {[](auto& to) { to.Integer(-12); }, ":-12\r\n", ":-12\r\n"},
    {[](auto& to) { to.Integer(std::numeric_limits<int64_t>::min()); }, ":-9223372036854775808\r\n",
     ":-9223372036854775808\r\n"},
    {[](auto& to) { to.Bulk(""); }, "$0\r\n\r\n", "$0\r\n\r\n"},
    {[](auto& to) { to.Bulk("a\r\nb"); }, "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n"},
    {[](auto& to) { to.Double(3); }, "$1\r\n3\r\n", ",3\r\n"},
    {[](auto& to) { to.Double(-0.5); }, "$4\r\n-0.5\r\n", ",-0.5\r\n"},
    {[](auto& to) { to.Double(-kInfinity); }, "$4\r\n-inf\r\n", ",-inf\r\n"},
    {[](auto& to) { to.Bool(true); }, ":1\r\n", "#t\r\n"},
    {[](auto& to) { to.Bool(false); }, ":0\r\n", "#f\r\n"},
    {[](auto& to) { to.Null(); }, "$-1\r\n", "_\r\n"},
    {[](auto& to) { to.NullArray(); }, "*-1\r\n", "_\r\n"},
    {[](auto& to) { to.Verbatim("txt", "a\nb"); }, "$3\r\na\nb\r\n", "=7\r\ntxt:a\nb\r\n"},
    {[](auto& to) { to.Array(0); }, "*0\r\n", "*0\r\n"},
    {[](auto& to) { to.Array(1234567); }, "*1234567\r\n", "*1234567\r\n"},
    {[](auto& to) { to.Set(2); }, "*2\r\n", "~2\r\n"},
    {[](auto& to) { to.Map(2); }, "*4\r\n", "%2\r\n"},
    {[](auto& to) { to.Push(3); }, "*3\r\n", ">3\r\n"},
    {[](auto& to) { to.Error("ERR a\r\nb"); }, "-ERR a  b\r\n", "-ERR a  b\r\n"},
};

TEST(ReplyWriter, WritesEachKindInBothProtocols) {
  for (const Case& c : kCases) {
    EXPECT_EQ(Written(c, Protocol::kResp2), c.resp2);
    EXPECT_EQ(Written(c, Protocol::kResp3), c.resp3);
  }
}

TEST(ReplyWriter, AnErrorReplacesAHalfWrittenReply) {
  OutputBuffer out;
  out.Append("+before\r\n");
  ReplyWriter writer(out);
  writer.Begin();
  writer.Array(2);
  writer.Bulk("half");
  EXPECT_FALSE(writer.failed());
  writer.Error("ERR syntax error");
  EXPECT_TRUE(writer.failed());
  EXPECT_EQ(out.view(), "+before\r\n-ERR syntax error\r\n");
}

TEST(ReplyWriter, FailureConcernsTheReplyStartedLast) {
  OutputBuffer out;
  ReplyWriter writer(out);
  writer.Begin();
  writer.Error("ERR no");
  writer.Begin();
  EXPECT_FALSE(writer.failed());
  writer.Ok();
  EXPECT_FALSE(writer.failed());
}

TEST(ReplyWriter, DiscardsTheReplyStartedLast) {
  OutputBuffer out;
  ReplyWriter writer(out);
  writer.Ok();
  writer.Begin();
  writer.Bulk("gone");
  writer.Discard();
  EXPECT_EQ(out.view(), "+OK\r\n");
}

TEST(ReplyWriter, OmitsBulksBeyondTheLimit) {
  OutputBuffer out;
  out.Append("+before\r\n");
  ReplyWriter writer(out);
  writer.set_most_bytes(30);
  writer.Begin();
  writer.Array(3);
  writer.Bulk("0123456789");
  EXPECT_FALSE(writer.IsFull());
  writer.Bulk(std::string(100, 'x'));
  EXPECT_TRUE(writer.IsFull());
  const std::string full(out.view());
  writer.Bulk("short");
  writer.Bulk(std::string(100, 'y'));
  EXPECT_EQ(out.view(), full);
  writer.Error("ERR no");
  EXPECT_FALSE(writer.IsFull());
}

TEST(ReplyWriter, TheLimitAppliesToEachReply) {
  OutputBuffer out;
  ReplyWriter writer(out);
  writer.set_most_bytes(20);
  for (int i = 0; i < 10; ++i) {
    writer.Begin();
    writer.Bulk("0123456789");
    EXPECT_FALSE(writer.IsFull());
  }
}

}  // namespace
}  // namespace zsetd::reply_writer_test
