#include "server/process/system_checks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace zsetd {
namespace {

class SystemChecks : public testing::Test {
 protected:
  // A directory of its own for each test: they run side by side.
  SystemChecks()
      : root_(testing::TempDir() + "zsetd_system_checks_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + "/") {}
  ~SystemChecks() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text << "\n";
  }

  std::string root_;
};

TEST_F(SystemChecks, AWellSetUpSystemHasNoWarnings) {
  Write("proc/sys/vm/overcommit_memory", "0");
  Write("proc/sys/net/core/somaxconn", "4096");
  Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  EXPECT_TRUE(SystemWarnings(Settings(), root_).empty());
}

TEST_F(SystemChecks, EachWarningNamesTheCommandThatFixesIt) {
  Write("proc/sys/vm/overcommit_memory", "2");
  Write("proc/sys/net/core/somaxconn", "128");
  Write("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never");
  const std::vector<std::string> warnings = SystemWarnings(Settings(), root_);
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_NE(warnings[0].find("sysctl vm.overcommit_memory=1"), std::string::npos);
  EXPECT_NE(warnings[1].find("sysctl net.core.somaxconn=511"), std::string::npos);
  EXPECT_NE(warnings[2].find("echo madvise >"), std::string::npos);
}

TEST_F(SystemChecks, ADirectoryThatCannotBeWrittenIsAWarning) {
  Settings settings;
  settings.dir = root_ + "nowhere";
  const std::vector<std::string> warnings = SystemWarnings(settings, root_);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "The server cannot save its data, because it cannot write in '" +
                             settings.dir + "': No such file or directory");
  settings.save.points.clear();
  EXPECT_TRUE(SystemWarnings(settings, root_).empty());
  settings.appendonly = true;
  EXPECT_EQ(SystemWarnings(settings, root_).size(), 1u);
}

TEST_F(SystemChecks, UnreadableFilesCauseNoWarning) {
  EXPECT_TRUE(SystemWarnings(Settings(), root_ + "nowhere/").empty());
}

}  // namespace
}  // namespace zsetd
