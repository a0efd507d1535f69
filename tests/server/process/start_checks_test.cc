#include "server/process/start_checks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

std::string Listening(const Settings& settings, std::optional<int64_t> bus_port = std::nullopt) {
  return std::string(ErrorLine(CheckListening(settings, bus_port)));
}

Settings WithMetricsPort(int64_t port, const std::string& bind, const std::string& metrics_bind) {
  Settings settings;
  settings.bind = bind;
  settings.metrics_port = port;
  settings.metrics_bind = metrics_bind;
  return settings;
}

TEST(StartChecks, TheDefaultsAreAccepted) {
  EXPECT_EQ(Listening(Settings()), "");
  EXPECT_EQ(Listening(Settings(), 16379), "");
  EXPECT_TRUE(CheckPaths(Settings()).ok());
}

TEST(StartChecks, ClientsNeedAPortOrASocket) {
  Settings settings;
  settings.port = 0;
  EXPECT_EQ(Listening(settings), "No client could connect: set port, tls-port or unixsocket");
  settings.tls_port = 6380;
  EXPECT_EQ(Listening(settings), "");
  settings.tls_port = 0;
  settings.unixsocket = "zsetd.sock";
  EXPECT_EQ(Listening(settings), "");
}

TEST(StartChecks, PortsNeedAnAddress) {
  Settings settings;
  settings.bind = "";
  EXPECT_EQ(Listening(settings), "bind: there is no address to listen on");
  settings.unixsocket = "zsetd.sock";
  EXPECT_EQ(Listening(settings), "");
  EXPECT_EQ(Listening(settings, 16379), "bind: there is no address to listen on");
  EXPECT_EQ(Listening(WithMetricsPort(9121, "127.0.0.1", "")),
            "metrics-bind: there is no address to listen on");
}

TEST(StartChecks, APortHasOneUseAtEachAddress) {
  const std::string same = "metrics-port is the same as port: 6379";
  EXPECT_EQ(Listening(WithMetricsPort(6379, "127.0.0.1", "127.0.0.1")), same);
  EXPECT_EQ(Listening(WithMetricsPort(6379, "127.0.0.1", "*")), same);
  EXPECT_EQ(Listening(WithMetricsPort(6379, "10.0.0.1 ::*", "::1")), same);
  EXPECT_EQ(Listening(WithMetricsPort(6379, "10.0.0.1", "127.0.0.1 ::*")), "");
  EXPECT_EQ(Listening(WithMetricsPort(6379, "10.0.0.1 -::1", "127.0.0.1 -::1")), "");
  Settings settings;
  settings.tls_port = settings.port;
  EXPECT_EQ(Listening(settings), "tls-port is the same as port: 6379");
  EXPECT_EQ(Listening(Settings(), 6379), "the port of the cluster bus is the same as port: 6379");
}

TEST(StartChecks, DirectoriesOfFilesMustExist) {
  const auto error = [](std::string Settings::*file, const std::string& path) {
    Settings settings;
    settings.cluster_enabled = true;
    settings.*file = path;
    return std::string(ErrorLine(CheckPaths(settings)));
  };
  EXPECT_EQ(error(&Settings::logfile, "/nowhere/log"), "logfile: there is no directory '/nowhere'");
  EXPECT_EQ(error(&Settings::unixsocket, "no/where/s"),
            "unixsocket: there is no directory 'no/where'");
  EXPECT_EQ(error(&Settings::cluster_config_file, "/nowhere/n"),
            "cluster-config-file: there is no directory '/nowhere'");
  EXPECT_EQ(error(&Settings::logfile, testing::TempDir() + "log"), "");
  EXPECT_EQ(error(&Settings::unixsocket, "/" + std::string(107, 'a')),
            "unixsocket: the path is longer than 107 bytes");
  EXPECT_EQ(error(&Settings::unixsocket, "/" + std::string(106, 'a')), "");
}

}  // namespace
}  // namespace zsetd
