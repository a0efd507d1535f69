#include "bench/load/options.h"

#include <getopt.h>
#include <gtest/gtest.h>

namespace zsetd {
namespace {

absl::StatusOr<Options> Parse(std::vector<std::string> words) {
  words.insert(words.begin(), "load_generator");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  optind = 0;  // getopt starts again
  return ParseOptions(static_cast<int>(words.size()), arguments.data());
}

TEST(Options, AreRead) {
  const auto options = Parse({"--port", "7000", "--rate=2.5", "--random", "user=9", "--counter",
                              "at=5", "--listeners", "3=events", "GET {user}", "PING"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->port, 7000);
  EXPECT_EQ(options->connections, 50u);
  EXPECT_EQ(options->rate, 2.5);
  ASSERT_EQ(options->variables.size(), 2u);
  EXPECT_EQ(options->variables[0].kind, Variable::Kind::kRandom);
  EXPECT_EQ(options->variables[1].name, "at");
  EXPECT_EQ(options->variables[1].number, 5u);
  EXPECT_EQ(options->listeners, 3u);
  EXPECT_EQ(options->channel, "events");
  EXPECT_EQ(options->step, (std::vector<std::string>{"GET {user}", "PING"}));
}

TEST(Options, InvalidOptionsAreRefused) {
  const std::vector<std::vector<std::string>> useless = {{},
                                                         {"--port", "x", "PING"},
                                                         {"--steps", "0", "PING"},
                                                         {"--rate", "-1", "PING"},
                                                         {"--random", "user", "PING"},
                                                         {"--random", "user=0", "PING"},
                                                         {"--frobnicate", "PING"}};
  for (const auto& words : useless) {
    EXPECT_FALSE(Parse(words).ok()) << (words.empty() ? "" : words.front());
  }
}

}  // namespace
}  // namespace zsetd
