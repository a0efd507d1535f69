#include "tests/fuzz/fuzz_script.h"

#include <gtest/gtest.h>

namespace zsetd {
namespace {

TEST(FuzzScript, IsReadBackFromItsText) {
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes += static_cast<char>(byte);
  const FuzzScript script = {{.client = "a", .words = {"SET", all_bytes, "", " ", "\\x0a"}},
                             {.time = Millis(1500)},
                             {.client = "b", .bytes = "*1\r\n$4\r\nPI" + all_bytes},
                             {.client = "b", .bytes = ""}};
  const std::string text = FuzzScriptText(script);
  const FuzzScript again = ReadFuzzScript(text);
  ASSERT_EQ(again.size(), script.size());
  for (size_t i = 0; i < script.size(); ++i) {
    EXPECT_EQ(again[i].client, script[i].client);
    EXPECT_EQ(again[i].words, script[i].words);
    EXPECT_EQ(again[i].Sent(), script[i].Sent());
    EXPECT_EQ(again[i].time, script[i].time);
  }
  EXPECT_EQ(FuzzScriptText(again), text);
}

TEST(FuzzScript, OmitsRequestsThatChangeWhatTheRunReliesOn) {
  EXPECT_TRUE(ReadFuzzScript("a> CONFIG SET Lua-Time-Limit 0\n...\n").empty());
  EXPECT_TRUE(ReadFuzzScript("a> CONFIG SET busy-reply-threshold 0\n...\n").empty());
  EXPECT_TRUE(ReadFuzzScript("a>> \"CONFIG SET lua-TIME-limit 0\\r\\n\"\n...\n").empty());
  EXPECT_TRUE(ReadFuzzScript("a> CLIENT REPLY OFF\n...\n").empty());
  EXPECT_TRUE(ReadFuzzScript("a>> \"PING\\r\\nclient reply SKIP\\r\\n\"\n...\n").empty());
  EXPECT_EQ(ReadFuzzScript("a>> \"PING\\r\\n\"\n...\n").size(), 1);
}

TEST(FuzzScript, IsEmptyForTextThatIsNotATranscript) {
  EXPECT_TRUE(ReadFuzzScript("a> \"x\n").empty());
}

}  // namespace
}  // namespace zsetd
