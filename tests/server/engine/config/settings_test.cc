#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "server/engine/config/command_line.h"
#include "server/engine/config/settings_file.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/config/settings_text.h"
#include "server/engine/state/replication_state.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/size_text.h"

namespace zsetd::settings_test {
namespace {

std::string Set(std::string_view name, std::string_view value, Settings& settings) {
  return std::string(ErrorLine(SetValue(*FindSetting(name), settings, value)));
}

std::string Refused(std::string_view name, std::string_view value) {
  Settings settings;
  const std::string refusal = Set(name, value, settings);
  EXPECT_EQ(settings, Settings()) << "a refused value changes nothing";
  return refusal;
}

std::string Read(const std::string& text, Settings& settings) {
  std::istringstream stream(text);
  return std::string(ErrorLine(ReadSettings(stream, "zsetd.conf", settings)));
}

std::string ReadLine(const std::vector<std::string_view>& words, CommandLine& line) {
  return std::string(ErrorLine(ReadCommandLine(words, line)));
}

TEST(Settings, TheirTextReadsBackAsTheSameValue) {
  const Settings defaults;
  for (const Setting& setting : AllSettings()) {
    Settings copy;
    EXPECT_EQ(Set(setting.name, ValueOf(setting, defaults), copy), "") << setting.name;
    EXPECT_EQ(ValueOf(setting, copy), ValueOf(setting, defaults)) << setting.name;
    copy.without_effect.clear();
    EXPECT_EQ(copy, defaults) << setting.name;
  }
}

TEST(Settings, IntegersKeepToTheirBounds) {
  Settings settings;
  EXPECT_EQ(Set("port", "65535", settings), "");
  EXPECT_EQ(settings.port, 65535);
  EXPECT_EQ(Refused("port", "65536"), "argument must be between 0 and 65535 inclusive");
  EXPECT_EQ(Refused("timeout", "-1"), "argument must be between 0 and 2147483647 inclusive");
  EXPECT_EQ(Refused("port", "7000x"), "argument couldn't be parsed into an integer");
  EXPECT_EQ(Refused("port", ""), "argument couldn't be parsed into an integer");
}

TEST(Settings, PermissionsAreOctal) {
  Settings settings;
  EXPECT_EQ(Set("unixsocketperm", "750", settings), "");
  EXPECT_EQ(settings.unixsocketperm, 0750);
  EXPECT_EQ(ValueOf(*FindSetting("unixsocketperm"), settings), "750");
  EXPECT_EQ(Refused("unixsocketperm", "780"), "argument couldn't be parsed as an octal number");
  EXPECT_EQ(Refused("unixsocketperm", "7777"), "argument must be between 0 and 777 inclusive");
}

TEST(Settings, SizesHaveUnits) {
  EXPECT_EQ(ParseSize("7"), 7u);
  EXPECT_EQ(ParseSize("7b"), 7u);
  EXPECT_EQ(ParseSize("7k"), 7000u);
  EXPECT_EQ(ParseSize("7KB"), 7168u);
  EXPECT_EQ(ParseSize("2m"), 2000000u);
  EXPECT_EQ(ParseSize("2Mb"), 2097152u);
  EXPECT_EQ(ParseSize("3g"), 3000000000u);
  EXPECT_EQ(ParseSize("3gb"), 3221225472u);
  EXPECT_EQ(ParseSize("99999999999999999999"), UINT64_MAX);
  EXPECT_EQ(ParseSize("18446744073709551615gb"), UINT64_MAX);
  for (const std::string_view bad : {"", "mb", "-1", "+1", " 1", "1 mb", "1mx", "1.5mb"}) {
    EXPECT_FALSE(ParseSize(bad)) << bad;
  }
}

TEST(Settings, SizesKeepToTheirBounds) {
  EXPECT_EQ(Refused("proto-max-bulk-len", "1mx"), "argument must be a memory value");
  EXPECT_EQ(Refused("proto-max-bulk-len", "1kb"),
            "argument must be between 1048576 and 9223372036854775807 inclusive");
  EXPECT_EQ(Refused("proto-max-bulk-len", "9223372036854775808"),
            "argument must be between 1048576 and 9223372036854775807 inclusive");
}

TEST(Settings, HumanReadableSizesHaveTwoDigits) {
  EXPECT_EQ(SizeText(1023), "1023B");
  EXPECT_EQ(SizeText(1536), "1.50K");
  EXPECT_EQ(SizeText(512u << 20), "512.00M");
}

TEST(Settings, ChoicesIgnoreCase) {
  Settings settings;
  EXPECT_EQ(Set("loglevel", "Verbose", settings), "");
  EXPECT_EQ(settings.loglevel, LogLevel::kVerbose);
  EXPECT_EQ(Refused("loglevel", "loud"),
            "argument(s) must be one of the following: debug, verbose, notice, warning");
}

TEST(Settings, DiskSettingsAreChecked) {
  EXPECT_EQ(Refused("save", "900"), "Invalid save parameters");
  EXPECT_EQ(Refused("appendonly", "maybe"), "argument must be 'yes' or 'no'");
  EXPECT_EQ(Refused("appendfsync", "often"),
            "argument(s) must be one of the following: everysec, always, no");
  EXPECT_EQ(Refused("appenddirname", "a/b"), "appenddirname can't be a path, just a dirname");
}

TEST(Settings, DataFilesCannotHaveTheNamesOfDrafts) {
  for (const char* const name : {"dbfilename", "appendfilename"}) {
    EXPECT_EQ(Refused(name, "temp-zsetd-1-1.rdb"),
              "a name that begins with temp-zsetd- is reserved for temporary files, which a start "
              "removes");
    Settings settings;
    EXPECT_TRUE(SetValue(*FindSetting(name), settings, "temp-zsetd.rdb").ok());
  }
}

TEST(Settings, AnnouncedNamesFitIntoALineOfNodes) {
  EXPECT_EQ(Refused("cluster-announce-ip", "10.0.0.1 x"),
            "the announced address must be an IP address");
  EXPECT_EQ(Refused("cluster-announce-hostname", "a_b"),
            "Hostnames may only contain alphanumeric characters, hyphens or dots");
  EXPECT_EQ(Refused("cluster-announce-hostname", std::string(256, 'a')),
            "Hostnames must be less than 256 characters");
}

TEST(Settings, MasterIsAHostAndAPort) {
  Settings settings;
  EXPECT_EQ(Set("slaveof", "10.0.0.1 6379", settings), "");
  EXPECT_EQ(ValueOf(*FindSetting("replicaof"), settings), "10.0.0.1 6379");
  EXPECT_EQ(MasterIn(settings)->host, "10.0.0.1");
  EXPECT_EQ(MasterIn(settings)->port, 6379);
  EXPECT_EQ(Set("replicaof", "no one", settings), "");
  EXPECT_EQ(MasterIn(settings), std::nullopt);
  EXPECT_EQ(Refused("replicaof", "10.0.0.1"), "wrong number of arguments");
  EXPECT_EQ(Refused("replicaof", "10.0.0.1 65536"), "Invalid master port");
}

TEST(Settings, SettingsWithoutEffectAreCheckedKeptAndShown) {
  Settings settings;
  EXPECT_EQ(Set("rdbcompression", "NO", settings), "");
  EXPECT_EQ(ValueOf(*FindSetting("rdbcompression"), settings), "no");
  EXPECT_EQ(Set("slave-lazy-flush", "yes", settings), "");
  EXPECT_EQ(ValueOf(*FindSetting("replica-lazy-flush"), settings), "yes");
  EXPECT_EQ(Set("replica-full-sync-buffer-limit", "2mb", settings), "");
  EXPECT_EQ(ValueOf(*FindSetting("replica-full-sync-buffer-limit"), settings), "2097152");
  EXPECT_EQ(Set("appendfsync", "Always", settings), "");
  EXPECT_EQ(ValueOf(*FindSetting("appendfsync"), settings), "always");
  EXPECT_EQ(ValueOf(*FindSetting("io-threads-do-reads"), settings), "no");
  EXPECT_EQ(Refused("rdbcompression", "perhaps"), "argument must be 'yes' or 'no'");
  EXPECT_EQ(Refused("io-threads", "129"), "argument must be between 1 and 128 inclusive");
  EXPECT_EQ(Refused("appendfsync", "often"),
            "argument(s) must be one of the following: everysec, always, no");
  EXPECT_EQ(Refused("oom-score-adj-values", "0 200"), "wrong number of arguments");
  EXPECT_EQ(Refused("oom-score-adj-values", "0 200 2001"),
            "Invalid oom-score-adj-values, elements must be between -2000 and 2000.");
  EXPECT_EQ(Refused("appendfilename", "a/b"), "appendfilename can't be a path, just a filename");
}

TEST(Settings, SettingsOfOldReleasesAreReadAndNotShown) {
  Settings settings;
  EXPECT_EQ(Read("list-max-ziplist-entries 512\nLUA-replicate-commands yes\n", settings), "");
  EXPECT_EQ(settings.without_effect.size(), 2u);
  EXPECT_EQ(FindSetting("lua-replicate-commands"), nullptr);
}

TEST(Settings, TextIsCheckedWhetherOrNotItIsInUse) {
  EXPECT_EQ(Refused("tls-protocols", "TLSv1.2\nenable-debug-command yes"),
            "argument(s) must be one of the following: TLSv1, TLSv1.1, TLSv1.2, TLSv1.3");
  EXPECT_EQ(Refused("logfile", std::string_view("a\0b", 3)), "argument must not hold a NUL");
  EXPECT_EQ(Refused("bind", "localhost"), "'localhost' is not an IP address");
  EXPECT_EQ(Refused("bind", "127.0.0.1\n"), "'127.0.0.1\n' is not an IP address");
  EXPECT_EQ(Refused("dbfilename", "/etc/passwd"), "dbfilename can't be a path, just a filename");
  EXPECT_EQ(Refused("syslog-ident", "two words"),
            "argument must be one word of printable characters");
  std::string many = "127.0.0.1";
  for (int i = 0; i < 16; ++i) many += " 127.0.0.1";
  EXPECT_EQ(Refused("bind", many), "Too many bind addresses specified.");
  Settings settings;
  EXPECT_EQ(Set("bind", "-fe80::1%eth0  *  -::* 10.0.0.1", settings), "");
  EXPECT_EQ(settings.bind, "-fe80::1%eth0 * -::* 10.0.0.1");
  EXPECT_EQ(Set("requirepass", std::string_view("\0", 1), settings), "")
      << "a secret may be any bytes";
}

TEST(Settings, OutputLimitsOfAClassNotNamedStay) {
  Settings settings;
  EXPECT_EQ(Set("client-output-buffer-limit", "PubSub 1mb 1k 5", settings), "");
  EXPECT_EQ(settings.client_output_buffer_limit.pubsub, (OutputLimit{1048576, 1000, 5}));
  EXPECT_EQ(settings.client_output_buffer_limit.normal, OutputLimits().normal);
}

TEST(Settings, OutputLimitsAreSetTogetherOrNotAtAll) {
  EXPECT_EQ(Refused("client-output-buffer-limit", "pubsub 1 2"),
            "Wrong number of arguments in buffer limit configuration.");
  EXPECT_EQ(Refused("client-output-buffer-limit", ""),
            "Wrong number of arguments in buffer limit configuration.");
  EXPECT_EQ(Refused("client-output-buffer-limit", "normal 1 1 1 pubsub 1 2 3x"),
            "Error in hard, soft or soft_seconds setting in buffer limit configuration.");
  EXPECT_EQ(Refused("client-output-buffer-limit", "normal 1 1 1 crowd 1 2 3"),
            "Invalid client class specified in buffer limit configuration.");
}

TEST(Settings, AreFoundByOldNamesToo) {
  EXPECT_EQ(FindSetting("zset-max-ziplist-value"), FindSetting("ZSET-max-listpack-value"));
  EXPECT_EQ(FindSetting("nosuch"), nullptr);
  EXPECT_EQ(FindSetting(""), nullptr);
}

TEST(SettingsFile, HasOneSettingPerLine) {
  Settings settings;
  EXPECT_EQ(
      Read("# port 1\n\n  port 7000 \r\nrequirepass \"two words\"\nBIND ::1 127.0.0.1", settings),
      "");
  EXPECT_EQ(settings.port, 7000);
  EXPECT_EQ(settings.requirepass, "two words");
  EXPECT_EQ(settings.bind, "::1 127.0.0.1");
}

TEST(SettingsFile, SaveWithoutAValueAddsNoPoint) {
  const auto points = [](const std::string& text) {
    Settings settings;
    EXPECT_EQ(Read(text, settings), "") << text;
    return ValueOf(*FindSetting("save"), settings);
  };
  EXPECT_EQ(points("save\n"), "");
  EXPECT_EQ(points("save\nsave 900 1\n"), "900 1");
  EXPECT_EQ(points("save 900 1\nsave\n"), "900 1");
  EXPECT_EQ(points("save 900 1\nsave \"\"\n"), "");
  EXPECT_EQ(points("save '\"\"'\n"), "");
  EXPECT_EQ(points("save \"900 1\"\n"), "900 1");
}

TEST(SettingsFile, ListsMayBeEmpty) {
  Settings settings;
  EXPECT_EQ(Read("bind\nlatency-tracking-info-percentiles\nclient-output-buffer-limit\n", settings),
            "");
  EXPECT_EQ(settings.bind, "");
  EXPECT_EQ(ValueOf(*FindSetting("latency-tracking-info-percentiles"), settings), "");
  EXPECT_EQ(settings.client_output_buffer_limit.pubsub,
            Settings().client_output_buffer_limit.pubsub);
}

TEST(SettingsFile, ErrorsAreReportedWithTheirLine) {
  const auto complaint = [](const std::string& line) {
    Settings settings;
    return Read("\nport 7000\n" + line + "\n", settings);
  };
  const std::string where = "Reading zsetd.conf, at line 3\n>>> ";
  EXPECT_EQ(complaint("  hz -1 "),
            where + "'hz -1'\nargument must be between 0 and 2147483647 inclusive");
  EXPECT_EQ(complaint("nosuch 1"),
            where + "'nosuch 1'\nBad directive or wrong number of arguments");
  EXPECT_EQ(complaint("maxmemroy 1"), where +
                                          "'maxmemroy 1'\nBad directive or wrong number of "
                                          "arguments. Did you mean 'maxmemory'?");
  EXPECT_EQ(complaint("hz"), where + "'hz'\nwrong number of arguments");
  EXPECT_EQ(complaint("hz 1 2"), where + "'hz 1 2'\nwrong number of arguments");
  EXPECT_EQ(complaint("hz \"1"), where + "'hz \"1'\nUnbalanced quotes in configuration line");
  EXPECT_EQ(
      complaint("include /no/such.conf"),
      where + "'include /no/such.conf'\ncan't read '/no/such.conf': No such file or directory");
}

TEST(SettingsFile, MayDefineUsersAndRenameCommands) {
  Settings settings;
  EXPECT_EQ(Read("user alice on \">a b\"\nuser bob\nrename-command GET fetch\n"
                 "rename-command DEBUG \"\"\n",
                 settings),
            "");
  const std::vector<std::vector<std::string>> users = {{"alice", "on", ">a b"}, {"bob"}};
  const std::vector<std::pair<std::string, std::string>> names = {{"GET", "fetch"}, {"DEBUG", ""}};
  EXPECT_EQ(settings.users, users);
  EXPECT_EQ(settings.renamed_commands, names);
}

TEST(SettingsFile, AllErrorsAreReportedTogether) {
  Settings settings;
  EXPECT_EQ(Read("appendonly maybe\nport 7000\nsave 900\nloadmodule /x.so\nsearch-on-timeout fail\n"
                 "timeout 7\n",
                 settings),
            "Reading zsetd.conf, at line 1\n>>> 'appendonly maybe'\n"
            "argument must be 'yes' or 'no'\n"
            "Reading zsetd.conf, at line 3\n>>> 'save 900'\nInvalid save parameters\n"
            "Reading zsetd.conf, at line 4\n>>> 'loadmodule /x.so'\nmodules are not loaded\n"
            "Reading zsetd.conf, at line 5\n>>> 'search-on-timeout fail'\n"
            "it is a setting of a module, and modules are not loaded");
  EXPECT_EQ(settings.port, 7000);
  EXPECT_EQ(settings.timeout, 7);
}

TEST(SettingsFile, ManyErrorsAreSummarized) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "nonsense\n";
  Settings settings;
  const std::string refusal = Read(text, settings);
  EXPECT_TRUE(refusal.ends_with("\nand 900 more such lines")) << refusal;
}

TEST(SettingsFile, IncludesMatchingFilesInTheOrderOfNames) {
  const std::filesystem::path folder = testing::TempDir() + "zsetd_include_test";
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "b.conf") << "port 2\n";
  std::ofstream(folder / "a.conf") << "port 1\ntimeout 1\n";
  Settings settings;
  EXPECT_EQ(Read("include " + folder.string() + "/*.conf\ninclude /no/such/*.conf\n", settings),
            "");
  EXPECT_EQ(settings.port, 2);
  EXPECT_EQ(settings.timeout, 1);
  std::filesystem::remove_all(folder);
}

TEST(SettingsFile, RecursiveIncludesAreLimited) {
  const std::string path = testing::TempDir() + "zsetd_recursive.conf";
  std::ofstream(path) << "include " << path << "\ninclude " << path << "\ninclude " << path << "\n";
  Settings settings;
  const std::string refusal(ErrorLine(ReadSettingsFile(path, settings)));
  EXPECT_TRUE(refusal.ends_with("files include each other too deeply")) << refusal;
  std::filesystem::remove(path);
}

TEST(SettingsFile, AFolderIsRefused) {
  Settings settings;
  EXPECT_EQ(ErrorLine(ReadSettingsFile("/", settings)), "can't read '/': Is a directory");
}

TEST(SettingsFile, AnEndlessFileIsRefused) {
  Settings settings;
  EXPECT_EQ(ErrorLine(ReadSettingsFile("/dev/zero", settings)),
            "can't read '/dev/zero': it has more than 64 MB");
}

TEST(SettingsFile, RefusesAnEmptyWordAmongOthers) {
  Settings settings;
  EXPECT_EQ(Read("latency-tracking-info-percentiles \"\"\n", settings), "");
  EXPECT_NE(Read("latency-tracking-info-percentiles \"\" 50\n", settings), "");
  EXPECT_NE(Read("latency-tracking-info-percentiles \"\" \"\"\n", settings), "");
}

TEST(SettingsFile, IncludesOthers) {
  Settings settings;
  EXPECT_EQ(Read("hz 20\ninclude " ZSETD_CONF "\nport 7000\n", settings), "");
  EXPECT_EQ(settings.hz, Settings().hz) << "the included file is read later";
  EXPECT_EQ(settings.port, 7000);
}

TEST(CommandLine, SetsSettings) {
  CommandLine line;
  EXPECT_EQ(ReadLine({"--port", "7000", "--save", "", "--bind", "127.0.0.1", "::1",
                      "--list-max-listpack-size", "-1"},
                     line),
            "");
  EXPECT_EQ(line.settings.port, 7000);
  EXPECT_EQ(line.settings.bind, "127.0.0.1 ::1");
  EXPECT_EQ(line.settings.list_max_listpack_size, -1);
  EXPECT_EQ(line.config_file, "");
}

std::string SaveOf(const std::vector<std::string_view>& words) {
  CommandLine line;
  const std::string refusal = ReadLine(words, line);
  return refusal.empty() ? ValueOf(*FindSetting("save"), line.settings) : "refused";
}

TEST(CommandLine, ReadsSavePointsLikeRedis) {
  EXPECT_EQ(SaveOf({"--save"}), "");
  EXPECT_EQ(SaveOf({"--save", ""}), "");
  EXPECT_EQ(SaveOf({"--save", "\"\""}), "");
  EXPECT_EQ(SaveOf({"--save", " '' "}), "");
  EXPECT_EQ(SaveOf({"--save "}), "");
  EXPECT_EQ(SaveOf({"--save", "--hz", "20"}), "");
  EXPECT_EQ(SaveOf({"--SAVE", "--hz", "20"}), "");
  EXPECT_EQ(SaveOf({"--save", "900 1 300 10"}), "900 1 300 10");
  EXPECT_EQ(SaveOf({"--save 900 1", "--save 300 10"}), "900 1 300 10");
  EXPECT_EQ(SaveOf({"--save", "900", "1", "--save", "300", "10"}), "900 1 300 10");
  EXPECT_EQ(SaveOf({"--save ", "900", "1"}), "900 1");
  EXPECT_EQ(SaveOf({"--save 900 1", "--save"}), "");
  EXPECT_EQ(SaveOf({"--save ", "--hz", "20"}), "refused");
  EXPECT_EQ(SaveOf({"--save", "\"900 1\""}), "refused");
  EXPECT_EQ(SaveOf({"--save", "900 1", "300 10"}), "refused");
  EXPECT_EQ(SaveOf({"--save", "900"}), "refused");
}

TEST(CommandLine, TakesAnOptionAndItsValuesAsOneArgument) {
  CommandLine line;
  EXPECT_EQ(ReadLine({"--maxmemory 700mb", "--hz  \"20\" ", "--bind 127.0.0.1", "::1",
                      "--timeout 7\ntcp-backlog 9", "--requirepass 'a b'"},
                     line),
            "");
  EXPECT_EQ(line.settings.maxmemory, 700 << 20);
  EXPECT_EQ(line.settings.hz, 20);
  EXPECT_EQ(line.settings.bind, "127.0.0.1 ::1");
  EXPECT_EQ(line.settings.timeout, 7);
  EXPECT_EQ(line.settings.tcp_backlog, 9);
  EXPECT_EQ(line.settings.requirepass, "a b");
}

TEST(CommandLine, TheArgumentAfterANameIsItsValue) {
  CommandLine line;
  EXPECT_EQ(ReadLine({"--requirepass", "--secret", "--masterauth", "\"\"", "--", "hz", "20"}, line),
            "");
  EXPECT_EQ(line.settings.requirepass, "--secret");
  EXPECT_EQ(line.settings.masterauth, "\"\"") << "quotes of an argument of its own are the value's";
  EXPECT_EQ(line.settings.hz, 20);
}

TEST(CommandLine, OverridesTheFileThatItNames) {
  CommandLine line;
  EXPECT_EQ(ReadLine({ZSETD_CONF, "--port", "7000"}, line), "");
  EXPECT_EQ(line.settings.port, 7000);
  EXPECT_EQ(line.config_file, ZSETD_CONF);
}

TEST(CommandLine, ErrorsAreReported) {
  CommandLine line;
  const std::string where = "Reading the command line\n>>> ";
  EXPECT_EQ(ReadLine({"--port", "x"}, line),
            where + "'--port x'\nargument couldn't be parsed into an integer");
  EXPECT_EQ(ReadLine({"--port", "--hz", "1"}, line),
            where + "'--port --hz 1'\nwrong number of arguments");
  EXPECT_EQ(ReadLine({"--port"}, line), where + "'--port'\nwrong number of arguments");
  EXPECT_EQ(ReadLine({"--maxmemory 700mb --hz 20"}, line),
            where + "'--maxmemory 700mb --hz 20'\nwrong number of arguments");
  EXPECT_EQ(ReadLine({"--requirepass 'a"}, line),
            where + "'--requirepass 'a'\nUnbalanced quotes in configuration line");
  EXPECT_EQ(ReadLine({"-x", "1"}, line),
            where + "'-x 1'\nBad directive or wrong number of arguments");
  EXPECT_EQ(ReadLine({"--", "--"}, line),
            where + "'-- --'\nBad directive or wrong number of arguments");
  EXPECT_EQ(ReadLine({"/no/such.conf"}, line),
            "can't read '/no/such.conf': No such file or directory");
}

TEST(CommandLine, TakesTheOptionsOfServicesAndHarnesses) {
  CommandLine line;
  EXPECT_EQ(ReadLine({"--daemonize", "no", "--supervised", "systemd", "--io-threads", "1",
                      "--pidfile", "/run/x.pid", "--ignore-warnings", "ARM64-COW-BUG",
                      "--syslog-enabled", "no", "--save", "--appendonly", "no"},
                     line),
            "");
  EXPECT_EQ(line.settings.supervised, Supervision::kSystemd);
  EXPECT_EQ(line.settings.pidfile, "/run/x.pid");
  EXPECT_EQ(line.settings.without_effect.size(), 1u);
}

TEST(CommandLine, RequestsHelpTexts) {
  const auto task = [](const std::vector<std::string_view>& words) {
    CommandLine line;
    EXPECT_EQ(ReadLine(words, line), "");
    return line.task;
  };
  EXPECT_EQ(task({"--help"}), CommandLine::Task::kHelp);
  EXPECT_EQ(task({"-h"}), CommandLine::Task::kHelp);
  EXPECT_EQ(task({"--help", "all"}), CommandLine::Task::kHelpAll);
  EXPECT_EQ(task({"-v"}), CommandLine::Task::kVersion);
  EXPECT_EQ(task({"--list-settings"}), CommandLine::Task::kListSettings);
  EXPECT_EQ(task({"--version", "--port", "1"}), CommandLine::Task::kVersion);
  EXPECT_EQ(task({"--check-config", ZSETD_CONF}), CommandLine::Task::kCheckConfig);
  EXPECT_EQ(task({}), CommandLine::Task::kServe);
}

TEST(CommandLine, RecordsOldOptionsUnderTheirCurrentName) {
  const std::string path = testing::TempDir() + "zsetd_noted.conf";
  std::ofstream(path) << "PORT 1\nslave-lazy-flush no\nport 2\nhz x\nuser bob\n";
  CommandLine line;
  EXPECT_NE(ReadLine({"--check-config", path, "--timeout", "7"}, line), "");
  std::filesystem::remove(path);
  const std::vector<std::string> names = {"port", "replica-lazy-flush", "user", "timeout"};
  EXPECT_EQ(line.directives, names);
  EXPECT_EQ(ConfigReport(line),
            "works (3):\n  port, user, timeout\n"
            "accepted, without effect here (1):\n  replica-lazy-flush\n");
}

TEST(CommandLine, ChecksAFileOnly) {
  CommandLine line;
  const std::string needs = "--check-config needs the name of a file, or - for standard input";
  EXPECT_EQ(ReadLine({"--check-config"}, line), needs);
  EXPECT_EQ(ReadLine({"--check-config", "--port", "1"}, line), needs);
}

TEST(SettingsText, HelpFitsAScreen) {
  std::istringstream help(HelpText());
  int lines = 0;
  for (std::string text; std::getline(help, text); ++lines) EXPECT_LE(text.size(), 80u) << text;
  EXPECT_LE(lines, 24);
}

TEST(SettingsText, HelpAllHasEverySettingThatWorks) {
  const std::string help = HelpAllText();
  for (const Setting& setting : AllSettings()) {
    const bool listed = help.find("\n  --" + std::string(setting.name) + " ") != std::string::npos;
    EXPECT_EQ(listed, setting.HasEffect()) << setting.name;
  }
}

TEST(SettingsText, TheListingHasSevenColumns) {
  std::istringstream listing(SettingsListing());
  size_t lines = 0;
  for (std::string text; std::getline(listing, text); ++lines) {
    EXPECT_EQ(std::ranges::count(text, '\t'), 6) << text;
  }
  EXPECT_GT(lines, AllSettings().size());
  EXPECT_NE(listing.str().find("\nport\t\tworks\t6379\t0..65535\tlive\t\n"), std::string::npos);
  EXPECT_NE(listing.str().find("\nloadmodule\t\trefused\t"), std::string::npos);
}

}  // namespace
}  // namespace zsetd::settings_test
