#include "tests/transcript/transcript.h"

#include <gtest/gtest.h>

#include <random>

namespace zsetd {
namespace {

Transcript Parsed(std::string_view text) {
  auto transcript = ParseTranscript(text);
  EXPECT_TRUE(transcript.ok()) << transcript.status();
  return transcript.ok() ? *std::move(transcript) : Transcript();
}

// Returns the expectation of the only step of `a> PING` followed by these lines.
Expectation Expected(const std::string& lines) {
  const Transcript transcript = Parsed("a> PING\n" + lines);
  EXPECT_EQ(transcript.steps.size(), 1);
  return transcript.steps.at(0).expected;
}

TEST(Transcript, SendsWordsAsMultibulk) {
  const Transcript transcript = Parsed("a> SET k \"v\\x00 \"\n+OK\n");
  EXPECT_EQ(transcript.steps[0].bytes,
            std::string("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\nv\0 \r\n", 29));
  EXPECT_EQ(transcript.steps[0].client, "a");
}

TEST(Transcript, SendsRawBytesUnchanged) {
  EXPECT_EQ(Parsed("b2>> \"PING\\r\\n\"\n+PONG\n").steps[0].bytes, "PING\r\n");
}

TEST(Transcript, ParsesTimeAndUnsolicitedOutput) {
  const Transcript transcript = Parsed("+1500\na<\n>1\n");
  EXPECT_EQ(transcript.steps[0].kind, Step::Kind::kPass);
  EXPECT_EQ(transcript.steps[0].time, Millis(1500));
  EXPECT_EQ(transcript.steps[1].kind, Step::Kind::kHear);
  EXPECT_TRUE(Matches(transcript.steps[1].expected, ">1\r\n"));
}

TEST(Transcript, SkipsCommentsAndEmptyLines) {
  EXPECT_TRUE(Matches(Expected("# a comment\n\n#t\n#\n"), "#t\r\n"));
}

TEST(Transcript, ExpectsTheOraclesOwnReply) {
  const Transcript transcript = Parsed("a> GET k\n$1\n1\n7.0.15| $1\n7.0.15| 2\nb> PING\n+PONG\n");
  const Step& step = transcript.steps[0];
  EXPECT_TRUE(Matches(step.Expected(Dialect::kNewest), "$1\r\n1\r\n"));
  EXPECT_TRUE(Matches(step.Expected(Dialect::kOracle), "$1\r\n2\r\n"));
  EXPECT_TRUE(Matches(transcript.steps[1].Expected(Dialect::kOracle), "+PONG\r\n"));
}

TEST(Transcript, HeadersApplyToTheWholeTranscript) {
  EXPECT_TRUE(Parsed("socket\na> PING\n+PONG\n").needs_socket);
  EXPECT_EQ(Parsed("# all of it\nproto 3\na> PING\n+PONG\n").protocol, 3);
}

TEST(Transcript, ReportsTheLineOfAnError) {
  const auto error = [](std::string_view text) {
    return std::string(ParseTranscript(text).status().message());
  };
  EXPECT_EQ(error("a> \"x\n+OK\n"), "line 1: the quotes are not balanced, or there is no word");
  EXPECT_EQ(error("a> PING\na> PING\n+OK\n"), "line 2: the previous step expects no reply");
  EXPECT_EQ(error("+OK\n"), "line 1: this is neither a header nor a request");
  EXPECT_EQ(error("+5\n+OK\n"), "line 2: no client receives this reply");
  EXPECT_EQ(error("a> PING\n(waits)\n+OK\n"), "line 3: no line may follow this one");
  EXPECT_EQ(error("a> PING\n+\\q\n"), "line 2: a backslash precedes \\ or xHH only");
}

TEST(Reply, ExactLinesMatchOnlyTheirBytes) {
  const Expectation expected = Expected("$3\n\\x00\\x0d\\\\");
  EXPECT_TRUE(Matches(expected, std::string_view("$3\r\n\0\r\\\r\n", 9)));
  EXPECT_FALSE(Matches(expected, "$3\r\n"));
  EXPECT_FALSE(Matches(expected, std::string_view("$3\r\n\0\r\\\r\n\r\n", 11)));
  EXPECT_FALSE(Matches(expected, std::string_view("$3\r\n\0\r\\", 7)));
}

TEST(Reply, AnEmptyLineIsSpelled) {
  EXPECT_TRUE(Matches(Expected("$0\n(empty)"), "$0\r\n\r\n"));
  EXPECT_FALSE(Matches(Expected("$0"), "$0\r\n\r\n"));
}

TEST(Reply, ARegexMatchesOneWholeLine) {
  EXPECT_TRUE(Matches(Expected("~ :\\d+"), ":15\r\n"));
  EXPECT_FALSE(Matches(Expected("~ :\\d+"), ":15a\r\n"));
  EXPECT_FALSE(Matches(Expected("~ :\\d+"), ":1\r\n:5\r\n"));
}

TEST(Reply, DotsMatchAnyLines) {
  const Expectation expected = Expected("...\nb\n...");
  EXPECT_TRUE(Matches(expected, "b\r\n"));
  EXPECT_TRUE(Matches(expected, "a\r\na\r\nb\r\nc\r\n"));
  EXPECT_FALSE(Matches(expected, "a\r\nc\r\n"));
}

TEST(Reply, AWaitingClientReceivesNothing) {
  EXPECT_TRUE(Matches(Expected("(waits)"), ""));
  EXPECT_FALSE(Matches(Expected("(waits)"), "+OK\r\n"));
}

// Returns bytes that a server might send, with many characters that the format treats specially.
std::string RandomReply(std::mt19937& random) {
  constexpr std::string_view kParts[] = {"\r\n", "\n",      "\\",      " ",       "#",  "~ ",
                                         "a> ",  "(waits)", "...",     "+1",      "a<", "x",
                                         "",     "\xff",    "(empty)", "7.0.15| "};
  std::string bytes;
  for (size_t count = random() % 12; count > 0; --count) bytes += kParts[random() % 16];
  return bytes + "\r\n";
}

TEST(Reply, ShownLinesReadBack) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 5000; ++i) {
    const std::string bytes = RandomReply(random);
    std::string shown;
    for (const std::string& line : ShowLines(bytes)) shown += line + "\n";
    ASSERT_TRUE(Matches(Expected(shown), bytes)) << shown;
  }
}

}  // namespace
}  // namespace zsetd
