#include "server/process/spdlog_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace zsetd {
namespace {

class SpdlogLogTest : public testing::Test {
 protected:
  SpdlogLogTest()
      : path_(testing::TempDir() + "zsetd_log_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    settings_.logfile = path_;
    settings_.loglevel = LogLevel::kNotice;
  }
  ~SpdlogLogTest() override {
    std::filesystem::remove(path_);
    std::filesystem::remove(path_ + ".1");
  }

  std::vector<std::string> Lines(const std::string& suffix = "") const {
    std::ifstream file(path_ + suffix);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::string path_;
  Settings settings_;
  SpdlogLog log_;
};

TEST_F(SpdlogLogTest, ALineHasTheLayoutOfRedis) {
  ASSERT_TRUE(log_.Open(settings_).ok());
  log_.SetLevel(LogLevel::kDebug);
  log_.Write(LogLevel::kDebug, "a");
  log_.Write(LogLevel::kVerbose, "b");
  log_.SetRole(/*is_replica=*/true);
  log_.Write(LogLevel::kNotice, "c");
  log_.Write(LogLevel::kWarning, "d");
  const std::string ends[] = {R"(M .* \. a)", "M .* - b", R"(S .* \* c)", "S .* # d"};
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), std::size(ends));
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::regex layout(R"(\d+:)" + ends[i]);
    EXPECT_TRUE(std::regex_match(lines[i], layout)) << lines[i];
    const std::regex time(R"(.:. \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3} . .)");
    const std::string rest = lines[i].substr(lines[i].find(':') - 1);
    EXPECT_TRUE(std::regex_match(rest, time)) << rest;
  }
}

TEST_F(SpdlogLogTest, LinesBelowTheLevelAreNotWritten) {
  ASSERT_TRUE(log_.Open(settings_).ok());
  EXPECT_FALSE(log_.IsOn(LogLevel::kVerbose));
  EXPECT_TRUE(log_.IsOn(LogLevel::kNotice));
  log_.Write(LogLevel::kVerbose, "hidden");
  log_.SetLevel(LogLevel::kVerbose);
  EXPECT_TRUE(log_.IsOn(LogLevel::kVerbose));
  log_.Write(LogLevel::kVerbose, "shown");
  ASSERT_EQ(Lines().size(), 1u);
  EXPECT_TRUE(Lines()[0].ends_with(" - shown"));
}

TEST_F(SpdlogLogTest, AMessageIsOneLineAndNoFormat) {
  ASSERT_TRUE(log_.Open(settings_).ok());
  log_.Write(LogLevel::kNotice, "a\nb\x7f {} %n");
  ASSERT_EQ(Lines().size(), 1u);
  EXPECT_TRUE(Lines()[0].ends_with(R"(a\x0ab\x7f {} %n)")) << Lines()[0];
}

TEST_F(SpdlogLogTest, DropsLinesBeforeItIsOpen) {
  log_.Write(LogLevel::kWarning, "early");
  ASSERT_TRUE(log_.Open(settings_).ok());
  EXPECT_TRUE(Lines().empty());
}

TEST_F(SpdlogLogTest, AFileThatCannotBeOpenedIsRefused) {
  settings_.logfile = path_ + "/none/log";
  EXPECT_FALSE(log_.Open(settings_).ok());
}

TEST_F(SpdlogLogTest, AFailedReopeningKeepsTheOldFile) {
  ASSERT_TRUE(log_.Open(settings_).ok());
  EXPECT_FALSE(log_.ReopenFile(path_ + "/none/log").ok());
  log_.Write(LogLevel::kNotice, "still here");
  EXPECT_EQ(Lines().size(), 1u);
}

TEST_F(SpdlogLogTest, ReopeningLosesNoLineOfOtherThreads) {
  constexpr size_t kThreads = 3;
  constexpr size_t kLines = 2000;
  ASSERT_TRUE(log_.Open(settings_).ok());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      for (size_t line = 0; line < kLines; ++line) log_.Write(LogLevel::kNotice, "line");
    });
  }
  std::filesystem::rename(path_, path_ + ".1");
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(log_.ReopenFile(path_).ok());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Lines().size() + Lines(".1").size(), kThreads * kLines);
}

}  // namespace
}  // namespace zsetd
