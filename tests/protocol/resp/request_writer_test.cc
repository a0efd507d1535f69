#include "protocol/resp/request_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/protocol/resp/parsing.h"

namespace zsetd {
namespace {

std::string LongWord() { return std::string(5000, 'x'); }

TEST(RequestWriter, AppendsARequestOfOneOrSeveralWords) {
  OutputBuffer out;
  AppendRequest(out, {"PING"});
  AppendRequest(out, {"SET", "key", "a\r\n"});
  EXPECT_EQ(out.view(), "*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$3\r\na\r\n\r\n");
}

TEST(RequestWriter, AppendsANameBeforeTheOtherWords) {
  OutputBuffer out;
  const std::string_view rest[] = {"key", ""};
  AppendRequest(out, "GETEX", rest);
  EXPECT_EQ(out.view(), "*3\r\n$5\r\nGETEX\r\n$3\r\nkey\r\n$0\r\n\r\n");
}

TEST(RequestWriter, EncodesCountsAndLengthsOfAnyNumberOfDigits) {
  for (const size_t size : {0, 9, 10, 99, 100, 4096, 70'000}) {
    const Request request = {"ECHO", std::string(size, 'x')};
    EXPECT_EQ(EncodeRequest({request[0], request[1]}), Multibulk(request)) << size;
  }
  for (const size_t words : {9, 10, 99, 100, 1000}) {
    const Request request(words, "word");
    const std::vector<std::string_view> views(request.begin(), request.end());
    EXPECT_EQ(EncodeRequest(views), Multibulk(request)) << words;
  }
}

TEST(RequestWriter, WritesWordByWordTheBytesOfAWholeRequest) {
  for (const std::string& last : {std::string("m"), LongWord()}) {
    OutputBuffer out;
    RequestWriter writer(out);
    writer.Begin(3);
    writer.Add("ZREM");
    writer.Add("z");
    EXPECT_FALSE(writer.IsWhole());
    writer.Add(last);
    EXPECT_TRUE(writer.IsWhole());
    EXPECT_EQ(out.view(), EncodeRequest({"ZREM", "z", last}));
  }
}

TEST(RequestWriter, LeavesTheBytesOfAWordToTheCaller) {
  OutputBuffer out;
  RequestWriter writer(out);
  writer.Begin(2);
  writer.Add("ECHO");
  writer.StartWord(LongWord().size());
  std::string sent(out.view());
  out.Clear();
  sent += LongWord();
  writer.EndWord();
  sent += out.view();
  EXPECT_TRUE(writer.IsWhole());
  EXPECT_EQ(sent, EncodeRequest({"ECHO", LongWord()}));
}

}  // namespace
}  // namespace zsetd
