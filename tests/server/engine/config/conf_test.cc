// Compares conf/zsetd.conf with the table of settings.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "protocol/resp/inline_words.h"
#include "server/engine/config/settings_file.h"
#include "server/engine/config/settings_table.h"

namespace zsetd {
namespace {

std::vector<std::string> LinesOfConf() {
  std::vector<std::string> lines;
  std::ifstream file(ZSETD_CONF);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Conf, ListsEverySettingThatHasAnEffectOnce) {
  std::map<std::string_view, int> times;
  for (const std::string& line : LinesOfConf()) {
    if (line.empty() || line.front() == '#') continue;
    const Setting* setting = FindSetting(SplitWords(line)->front());
    ASSERT_NE(setting, nullptr) << line;
    EXPECT_TRUE(setting->HasEffect()) << line;
    ++times[setting->name];
  }
  for (const Setting& setting : AllSettings()) {
    EXPECT_EQ(times[setting.name], setting.HasEffect() ? 1 : 0) << setting.name;
  }
}

// The settings get other values first, so that a line without effect cannot pass.
TEST(Conf, ListsEverySettingWithItsDefault) {
  const Settings defaults;
  Settings settings;
  settings.bind = settings.metrics_bind = settings.requirepass = settings.logfile = "other";
  settings.dir = settings.dbfilename = settings.activedefrag = "other";
  settings.syslog_ident = settings.pidfile = settings.aclfile = settings.unixsocket = "other";
  settings.rewrite_file = "other";
  settings.tls_cert_file = settings.tls_key_file = settings.tls_key_file_pass = "other";
  settings.tls_client_cert_file = settings.tls_client_key_file = "other";
  settings.tls_client_key_file_pass = "other";
  ASSERT_TRUE(settings.shutdown_on_sigterm.Read("nosave").ok());
  ASSERT_TRUE(settings.shutdown_on_sigint.Read("nosave").ok());
  settings.tls_ca_cert_file = settings.tls_ca_cert_dir = "other";
  settings.tls_protocols = settings.tls_ciphers = settings.tls_ciphersuites = "other";
  settings.appendfilename = settings.appenddirname = "other";
  settings.replicaof = settings.masteruser = settings.masterauth = "other";
  settings.replica_announce_ip = settings.metrics_hosts = "other";
  settings.cluster_config_file = settings.cluster_announce_ip = "other";
  settings.cluster_announce_hostname = settings.cluster_announce_human_nodename = "other";
  settings.save.points = {{std::chrono::seconds(1), 1}};
  settings.client_output_buffer_limit = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  settings.latency_tracking_info_percentiles.percents = {1};
  ASSERT_TRUE(settings.notify_keyspace_events.Read("KE").ok());
  for (const Setting& setting : AllSettings()) {
    std::visit(
        [&](auto field) {
          if constexpr (requires { ChoicesOf(settings.*field); }) {
            auto& choice = settings.*field;
            using Choice = std::remove_reference_t<decltype(choice)>;
            choice = choice == Choice(0) ? Choice(1) : Choice(0);
          }
        },
        setting.field);
    if (const auto* field = std::get_if<int64_t Settings::*>(&setting.field))
      settings.** field = -9;
    if (const auto* field = std::get_if<bool Settings::*>(&setting.field))
      settings.** field = !(settings.**field);
    if (!setting.HasEffect()) continue;
    EXPECT_NE(ValueOf(setting, settings), ValueOf(setting, defaults)) << setting.name;
  }
  ASSERT_TRUE(ReadSettingsFile(ZSETD_CONF, settings).ok());
  for (const Setting& setting : AllSettings()) {
    EXPECT_EQ(ValueOf(setting, settings), ValueOf(setting, defaults)) << setting.name;
  }
}

TEST(Conf, DescribesEachSetting) {
  const std::vector<std::string> lines = LinesOfConf();
  ASSERT_FALSE(lines.empty());
  bool told = false;  // a comment is directly above, with no empty line between
  for (const std::string& line : lines) {
    const bool is_comment = line.starts_with("# ");
    EXPECT_TRUE(told || is_comment || line.empty()) << line;
    told = is_comment || (told && !line.empty());
  }
}

}  // namespace
}  // namespace zsetd
