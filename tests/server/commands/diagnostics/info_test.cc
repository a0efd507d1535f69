// Times that INFO reports, which a test against a running server cannot determine.

#include "server/commands/diagnostics/info.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/keyspace/value.h"
#include "server/commands/all_commands.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd::info_test {
namespace {

constexpr Millis kStart{1'800'000'000'000};

class Info : public testing::Test {
 protected:
  // Returns the value of a field; empty if INFO does not contain it.
  std::string Field(std::string_view section, const std::string& name) {
    const std::vector<std::string_view> names = {section};
    const std::string text = "\r\n" + InfoText(engine_, names);
    const size_t start = text.find("\r\n" + name + ":");
    if (start == std::string::npos) return {};
    const size_t value = start + name.size() + 3;
    return text.substr(value, text.find("\r\n", value) - value);
  }

  Micros stopwatch_{1'000'000};
  Engine engine_{Settings(), AllCommands(), /*seed=*/1, kStart,
                 Host{.stopwatch = [this] { return stopwatch_; },
                      .wall_clock = [] { return Micros(1'800'000'000'123'456); },
                      .executable = "/usr/bin/zsetd",
                      .config_file = "/etc/zsetd.conf",
                      .supervisor = "systemd"}};
};

TEST_F(Info, ReportsTheUptime) {
  engine_.executor().AdvanceTo(kStart + Millis(90'061'999));
  EXPECT_EQ(Field("server", "uptime_in_seconds"), "90061");
  EXPECT_EQ(Field("server", "uptime_in_days"), "1");
  EXPECT_EQ(Field("server", "server_time_usec"), "1800000000123456");
}

TEST_F(Info, ReportsTheFilesInUse) {
  EXPECT_EQ(Field("server", "executable"), "/usr/bin/zsetd");
  EXPECT_EQ(Field("server", "config_file"), "/etc/zsetd.conf");
}

TEST_F(Info, NamesTheSupervisor) { EXPECT_EQ(Field("server", "process_supervised"), "systemd"); }

TEST_F(Info, ReportsTheAverageTimeToLive) {
  Database& database = engine_.store().database(3);
  for (const std::string_view key : {"a", "b", "c"}) {
    database.Put(key, ByteString(), KeyEvent::kSet);
  }
  database.ExpireAt(*database.Open("a"), kStart + Millis(100));
  database.ExpireAt(*database.Open("b"), kStart + Millis(300));
  engine_.executor().AdvanceTo(kStart + Millis(50));
  EXPECT_EQ(Field("keyspace", "db3"), "keys=3,expires=2,avg_ttl=150,subexpiry=0");
  engine_.executor().AdvanceTo(kStart + Millis(400));
  EXPECT_EQ(Field("keyspace", "db3"), "keys=3,expires=2,avg_ttl=0,subexpiry=0")
      << "not reclaimed yet";
  engine_.executor().Tick(Micros(0));
  EXPECT_EQ(Field("keyspace", "db3"), "keys=1,expires=0,avg_ttl=0,subexpiry=0");
}

TEST_F(Info, ReportsTheCurrentRate) {
  engine_.executor().Tick(Micros(0));
  engine_.metrics().stats().commands_processed = 500;
  engine_.metrics().stats().network.input_bytes = 2048;
  stopwatch_ += Millis(500);
  engine_.executor().Tick(Micros(0));
  EXPECT_EQ(Field("stats", "instantaneous_ops_per_sec"), "1000");
  EXPECT_EQ(Field("stats", "instantaneous_input_kbps"), "4.00");
}

TEST_F(Info, MemoryIsRealMemory) {
  const auto bytes = [&] { return std::stoll(Field("memory", "used_memory")); };
  const long long before = bytes();
  engine_.store().database(0).Put("k", ByteString(std::string(64 << 20, 'x')), KeyEvent::kSet);
  EXPECT_GE(bytes(), before + (48 << 20));
  EXPECT_GT(std::stoll(Field("memory", "used_memory_rss")), before);
  EXPECT_GE(std::stoll(Field("memory", "total_system_memory")), bytes());
}

TEST_F(Info, EverySectionHasATitleOfItsName) {
  for (const InfoSection& section : InfoSections()) {
    const std::vector<std::string_view> names = {section.name};
    const std::string text = InfoText(engine_, names);
    const std::string title = text.substr(0, text.find("\r\n"));
    EXPECT_TRUE(EqualsIgnoringCase(title, "# " + std::string(section.name))) << title;
  }
}

}  // namespace
}  // namespace zsetd::info_test
