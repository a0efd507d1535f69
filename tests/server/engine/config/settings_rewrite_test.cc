#include "server/engine/config/settings_rewrite.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "protocol/resp/inline_words.h"
#include "server/engine/config/settings_file.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

Settings Changed() {
  Settings settings;
  settings.port = 7000;
  settings.requirepass = "two words";
  return settings;
}

TEST(RewriteSettings, KeepsCorrectLines) {
  const std::string text = "# a comment with \" in it\n\n  PORT   7000\nrequirepass 'two words'\n";
  EXPECT_EQ(RewriteSettings(text, Changed()), text);
}

TEST(RewriteSettings, ChangesASettingOnItsLine) {
  EXPECT_EQ(RewriteSettings("hz 10\nport 6379\n# end\nrequirepass x\n", Changed()),
            "hz 10\nport 7000\n# end\nrequirepass \"two words\"\n");
}

TEST(RewriteSettings, WritesEachSettingOnce) {
  EXPECT_EQ(RewriteSettings("requirepass a\nport 1\nport 2\nport 7000\n", Changed()),
            "requirepass \"two words\"\nport 7000\n");
}

TEST(RewriteSettings, AppendsSettingsThatDifferFromTheDefault) {
  EXPECT_EQ(RewriteSettings("", Changed()), "port 7000\nrequirepass \"two words\"\n");
}

TEST(RewriteSettings, RewritesAllUsers) {
  Settings settings = Changed();
  settings.users = {{"alice", "on", "+get"}, {"bob", "off"}};
  EXPECT_EQ(RewriteSettings("user carol on\nport 7000\nUSER alice off\n# end\n"
                            "requirepass 'two words'\n",
                            settings),
            "port 7000\n# end\nrequirepass 'two words'\nuser alice on +get\nuser bob off\n");
}

TEST(RewriteSettings, OverridesAnIncludedFile) {
  const std::string include = "include " ZSETD_CONF "\n";
  EXPECT_EQ(RewriteSettings("port 7000\n" + include, Changed()),
            "port 7000\n" + include + "port 7000\nrequirepass \"two words\"\n");
}

// Files in a folder of their own.
class IncludingFile : public testing::Test {
 protected:
  IncludingFile() { std::filesystem::create_directories(folder_); }
  ~IncludingFile() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + name) << text;
  }
  Settings Read() const {
    Settings settings;
    const absl::Status status = ReadSettingsFile(folder_ + "main.conf", settings, nullptr, folder_);
    EXPECT_TRUE(status.ok()) << status;
    return settings;
  }
  absl::Status Rewrite(const Settings& settings) const {
    return RewriteSettingsFile(folder_ + "main.conf", settings, folder_);
  }

  // Each test may run next to the others.
  const std::string folder_ = testing::TempDir() + "zsetd_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
};

TEST_F(IncludingFile, HasTheSettingsAfterARewriteWhateverTheIncludedFileHas) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto lines = [&random] {
    constexpr std::string_view kLines[] = {"save 900 1", "save 60 5 30 6", "save \"\"", "hz 20",
                                           "port 7000",  "bind ::1",       "# mine"};
    std::string text;
    while (random() % 4 != 0) text += std::string(kLines[random() % std::size(kLines)]) + "\n";
    return text;
  };
  constexpr std::string_view kSavePoints[] = {"", "900 1", "60 5 30 6", "1 2", "900 1 1 2"};
  for (int round = 0; round < 200; ++round) {
    Write("included.conf", lines());
    Write("main.conf", lines() + "include included.conf\n" + lines());
    for (int rewrite = 0; rewrite < 3; ++rewrite) {
      Settings settings = Read();
      ASSERT_TRUE(settings.save.Read(kSavePoints[random() % std::size(kSavePoints)]).ok());
      settings.hz = random() % 2 == 0 ? 10 : 20;
      ASSERT_TRUE(Rewrite(settings).ok());
      EXPECT_EQ(Read().save.Text(), settings.save.Text());
      EXPECT_EQ(Read().hz, settings.hz);
    }
  }
}

TEST_F(IncludingFile, IsNotRewrittenIfAStartWouldHaveOtherSettings) {
  const std::string text = "include included.conf\n";
  Write("main.conf", text);
  Write("included.conf", "user bob on\n");
  Settings settings = Read();
  settings.users = {{"bob", "on"}, {"default", "on"}};
  EXPECT_EQ(Rewrite(settings).message(),
            "an included file defines users; move them to the configuration file");
  std::filesystem::remove(folder_ + "included.conf");
  EXPECT_NE(Rewrite(Settings()).message().find("can't read '" + folder_ + "included.conf'"),
            std::string::npos);
  std::ostringstream kept;
  kept << std::ifstream(folder_ + "main.conf").rdbuf();
  EXPECT_EQ(kept.str(), text);
}

TEST(RewriteSettings, ReadsBackAsTheSameSettings) {
  Settings settings = Changed();
  settings.bind = "::1 127.0.0.1";
  settings.tls_protocols = "TLSv1.2 TLSv1.3";
  settings.requirepass = std::string("\"\\\n\0'x", 6);
  settings.logfile = "a b";
  settings.client_output_buffer_limit.normal = {1, 2, 3};
  std::istringstream text(RewriteSettings("bind 1\nlist-max-ziplist-size 4\n", settings));
  Settings read;
  EXPECT_TRUE(ReadSettings(text, "", read).ok());
  EXPECT_EQ(read, settings);
}

std::string RandomBytes(std::mt19937& random, size_t most) {
  std::string bytes;
  const size_t size = random() % (most + 1);
  constexpr std::string_view kTelling = " \t\n\r\v\f\"'\\#x0";
  for (size_t i = 0; i < size; ++i) {
    const bool telling = random() % 2 == 0;
    bytes += telling ? kTelling[random() % kTelling.size()] : static_cast<char>(random());
  }
  return bytes;
}

// Returns a value that a client might send: any bytes, alone or within an accepted value.
std::string RandomValue(const Setting& setting, std::mt19937& random) {
  std::string value = RandomBytes(random, 12);
  if (random() % 2 == 0) {
    std::string known = ValueOf(setting, Settings());
    known.insert(random() % (known.size() + 1), value);
    value = known;
  }
  if (!setting.choices.empty() && random() % 2 == 0) {
    value = std::string(setting.choices[random() % setting.choices.size()]) + value;
  }
  return value;
}

// Returns a value as written to a line of a file. A single word of a setting with several words is
// split once more.
std::string QuotedWords(const Setting& setting, const std::string& value) {
  const std::vector<std::string_view> words = Split(value, ' ');
  if (!setting.many_words) return " " + QuoteWord(value);
  if (words.size() <= 1) return " " + QuoteWord(QuoteWord(value));
  std::string line;
  for (const std::string_view word : words) line += " " + QuoteWord(word);
  return line;
}

TEST(RewriteSettings, EveryAcceptedValueReadsBackAsTheSameSettings) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::map<std::string_view, int> accepted;
  for (int round = 0; round < 200; ++round) {
    Settings settings;
    std::string before = "# mine\nport 7000\n";
    for (const Setting& setting : AllSettings()) {
      const std::string value = RandomValue(setting, random);
      if (!SetValue(setting, settings, value).ok()) continue;
      ++accepted[setting.name];
      if (random() % 4 == 0)
        before += std::string(setting.name) + QuotedWords(setting, value) + "\n";
    }
    settings.users = {{RandomBytes(random, 8), RandomBytes(random, 8)}};
    std::istringstream text(RewriteSettings(before, settings));
    Settings read;
    const absl::Status status = ReadSettings(text, "", read);
    ASSERT_TRUE(status.ok()) << status << "\n" << text.str();
    for (const Setting& setting : AllSettings()) {
      ASSERT_EQ(ValueOf(setting, read), ValueOf(setting, settings)) << text.str();
    }
    ASSERT_EQ(read.users, settings.users) << text.str();
    ASSERT_EQ(read.renamed_commands, settings.renamed_commands);
  }
  for (const std::string_view any : {"requirepass", "logfile", "dir", "proc-title-template"}) {
    EXPECT_GT(accepted[any], 20) << any;
  }
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

class RewriteFile : public testing::Test {
 protected:
  RewriteFile() { configured_.rewrite_file = path_; }
  ~RewriteFile() override { std::filesystem::remove(path_); }

  std::string Text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  // Returns the settings of the configuration file with those of the rewrite-file.
  Settings ReadBack() const {
    Settings settings = configured_;
    EXPECT_TRUE(ReadRewriteFile("/etc/zsetd.conf", settings).ok());
    return settings;
  }

  // Each test may run next to the others.
  const std::string path_ = testing::TempDir() + "zsetd_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() + ".conf";
  Settings configured_;
};

TEST_F(RewriteFile, HasTheSettingsThatDifferFromTheConfigurationFile) {
  configured_.port = 7000;
  configured_.hz = 20;
  Settings settings = configured_;
  settings.hz = 10;  // the default
  settings.requirepass = "two words";
  ASSERT_TRUE(WriteRewriteFile(configured_, settings).ok());
  EXPECT_TRUE(Text().ends_with("file.\nhz 10\nrequirepass \"two words\"\n")) << Text();
  EXPECT_EQ(ReadBack().hz, 10);
  EXPECT_EQ(ReadBack().requirepass, "two words");
  EXPECT_EQ(ReadBack().port, 7000);
  ASSERT_TRUE(WriteRewriteFile(configured_, configured_).ok());
  EXPECT_EQ(ReadBack().hz, 20);
}

TEST_F(RewriteFile, ReplacesSavePointsAndUsers) {
  ASSERT_TRUE(ReadSettingsLine("save 60 1", configured_).ok());
  configured_.users = {{"alice", "on"}, {"bob", "off"}};
  Settings settings = configured_;
  ASSERT_TRUE(settings.save.Read("30 2 40 3").ok());
  ASSERT_TRUE(WriteRewriteFile(configured_, settings).ok());
  EXPECT_EQ(ReadBack().save.Text(), "30 2 40 3");
  EXPECT_EQ(ReadBack().users, configured_.users);
  ASSERT_TRUE(settings.save.Read("").ok());
  settings.users = {{"bob", "on"}};
  ASSERT_TRUE(WriteRewriteFile(configured_, settings).ok());
  EXPECT_EQ(ReadBack().save.Text(), "");
  EXPECT_EQ(ReadBack().users, settings.users);
  configured_.users.clear();
  configured_.aclfile = "users";
  EXPECT_TRUE(ReadBack().users.empty());
}

TEST_F(RewriteFile, MayBeMissing) { EXPECT_EQ(ReadBack().port, configured_.port); }

TEST_F(RewriteFile, CannotBeTheConfigurationFile) {
  EXPECT_EQ(ReadRewriteFile(path_, configured_).message(),
            "rewrite-file: it must be another file than the configuration file");
}

TEST(RewriteSettings, OmitsTheMasterOfANodeOfACluster) {
  Settings settings;
  settings.replicaof = "10.0.0.1 6379";
  EXPECT_NE(RewriteSettings("", settings).find("replicaof"), std::string::npos);
  settings.cluster_enabled = true;
  EXPECT_EQ(RewriteSettings("replicaof 10.0.0.1 6379\n", settings).find("10.0.0.1"),
            std::string::npos);
}

// redis-server refuses an empty one.
TEST(RewriteSettings, RemovesTheLineOfAFormerMaster) {
  EXPECT_EQ(
      RewriteSettings("replicaof 10.0.0.1 6379\nport 7000\nslaveof 10.0.0.2 6379\n", Changed()),
      "port 7000\nrequirepass \"two words\"\n");
}

TEST(RewriteSettings, ReportsWhyAFileCannotBeWritten) {
  EXPECT_EQ(RewriteSettingsFile("/no/such/zsetd.conf", Settings()).message(),
            "can't write '/no/such/zsetd.conf': No such file or directory");
}

}  // namespace
}  // namespace zsetd
