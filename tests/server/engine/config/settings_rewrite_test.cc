#include "server/engine/config/settings_rewrite.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/engine/config/settings_file.h"

namespace zsetd {
namespace {

Settings Changed() {
  Settings settings;
  settings.port = 7000;
  settings.requirepass = "two words";
  return settings;
}

TEST(RewriteSettings, KeepsWhatIsRight) {
  const std::string text = "# a comment with \" in it\n\n  PORT   7000\nrequirepass 'two words'\n";
  EXPECT_EQ(RewriteSettings(text, Changed()), text);
}

TEST(RewriteSettings, ChangesASettingWhereItStands) {
  EXPECT_EQ(RewriteSettings("hz 10\nport 6379\n# end\nrequirepass x\n", Changed()),
            "hz 10\nport 7000\n# end\nrequirepass \"two words\"\n");
}

TEST(RewriteSettings, SaysASettingOnce) {
  EXPECT_EQ(RewriteSettings("requirepass a\nport 1\nport 2\nport 7000\n", Changed()),
            "requirepass \"two words\"\nport 7000\n");
}

TEST(RewriteSettings, AppendsWhatIsNotTheDefault) {
  EXPECT_EQ(RewriteSettings("", Changed()), "port 7000\nrequirepass \"two words\"\n");
}

TEST(RewriteSettings, SaysAllUsersAnew) {
  Settings settings = Changed();
  settings.users = {{"alice", "on", "+get"}, {"bob", "off"}};
  EXPECT_EQ(RewriteSettings("user carol on\nport 7000\nUSER alice off\n# end\n"
                            "requirepass 'two words'\n",
                            settings),
            "port 7000\n# end\nrequirepass 'two words'\nuser alice on +get\nuser bob off\n");
}

TEST(RewriteSettings, WinsOverAnIncludedFile) {
  const std::string include = "include " ZSETD_CONF "\n";
  EXPECT_EQ(RewriteSettings("port 7000\n" + include, Changed()),
            "port 7000\n" + include + "port 7000\nrequirepass \"two words\"\n");
}

TEST(RewriteSettings, ReadsBackAsTheSameSettings) {
  Settings settings = Changed();
  settings.bind = "::1 127.0.0.1";
  settings.requirepass = std::string("\"\\\n\0'x", 6);
  settings.logfile = "a b";
  settings.client_output_buffer_limit.normal = {1, 2, 3};
  std::istringstream text(RewriteSettings("bind 1\nlist-max-ziplist-size 4\n", settings));
  Settings read;
  EXPECT_TRUE(ReadSettings(text, "", read).ok());
  EXPECT_EQ(read, settings);
}

TEST(RewriteSettings, ReplacesAFileAndKeepsItsRights) {
  const std::filesystem::path path = testing::TempDir() + "zsetd_rewrite_test.conf";
  std::ofstream(path) << "# mine\nport 1\n";
  const auto private_file =
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  std::filesystem::permissions(path, private_file);
  EXPECT_TRUE(RewriteSettingsFile(path, Changed()).ok());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "# mine\nport 7000\nrequirepass \"two words\"\n");
  EXPECT_EQ(std::filesystem::status(path).permissions(), private_file);
  std::filesystem::remove(path);
}

TEST(RewriteSettings, TellsWhyAFileCannotBeWritten) {
  EXPECT_EQ(RewriteSettingsFile("/no/such/zsetd.conf", Settings()).message(),
            "can't write '/no/such/zsetd.conf.new': No such file or directory");
}

}  // namespace
}  // namespace zsetd
