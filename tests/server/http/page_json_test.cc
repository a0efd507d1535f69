#include "server/http/page_json.h"

#include <gtest/gtest.h>

namespace zsetd {
namespace {

std::string Json(std::vector<std::string> replies) { return PageRepliesJson(replies); }

TEST(PageJson, RepliesKeepTheirKind) {
  EXPECT_EQ(Json({"+OK\r\n", "$2\r\nhi\r\n", ":7\r\n", "$-1\r\n", "*-1\r\n", "-ERR no\r\n"}),
            R"({"replies":["OK","hi",7,null,null,{"error":"ERR no"}]})");
  EXPECT_EQ(Json({"*2\r\n*1\r\n:1\r\n$0\r\n\r\n", "*0\r\n"}), R"({"replies":[[[1],""],[]]})");
}

TEST(PageJson, NumbersThatJavaScriptWouldRoundAreText) {
  EXPECT_EQ(Json({":9007199254740991\r\n", ":9007199254740992\r\n"}),
            R"({"replies":[9007199254740991,"9007199254740992"]})");
}

TEST(PageJson, InvalidUtf8IsHexadecimal) {
  EXPECT_EQ(Json({"$3\r\n\xff\r\n\r\n", "$2\r\n\xc3\xbc\r\n", "$2\r\n\xed\xa0\r\n"}),
            "{\"replies\":[{\"hex\":\"ff0d0a\"},\"\xc3\xbc\",{\"hex\":\"eda0\"}]}");
}

TEST(PageJson, MalformedReplyIsNull) {
  EXPECT_EQ(Json({"", "x", "$9\r\nshort\r\n", "*3\r\n:1\r\n"}),
            R"({"replies":[null,null,null,[1]]})");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "*1\r\n";
  EXPECT_NE(Json({deep}).find("null"), std::string::npos);
}

TEST(PageJson, CommandsAreWordsOrTheirBytes) {
  const auto commands = ReadPageCommands(R"({"commands": [["GET", {"hex": "ff0A"}], ["PING"]]})");
  const std::vector<std::vector<std::string>> wanted = {{"GET", "\xff\n"}, {"PING"}};
  EXPECT_EQ(commands, wanted);
}

TEST(PageJson, CredentialsAreThoseOfBasic) {
  const auto found = ReadCredentials("basic dXNlcjpwYTpzcw==");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->user, "user");
  EXPECT_EQ(found->password, "pa:ss") << "only the first colon divides";
  for (const char* bad :
       {"", "Basic", "Basic ", "Basic ****", "Bearer dXNlcjpwYXNz", "Basic dXNlcg=="}) {
    EXPECT_FALSE(ReadCredentials(bad)) << bad;
  }
}

}  // namespace
}  // namespace zsetd
