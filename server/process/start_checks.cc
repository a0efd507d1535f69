#include "server/process/start_checks.h"

#include <sys/un.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

// A port and the addresses at which it is opened.
struct Listening {
  std::string_view setting;
  int64_t port;
  std::vector<std::string_view> addresses;
};

// Returns the addresses. Leaves out those that the machine may not have, because they are optional.
std::vector<std::string_view> RequiredIn(std::string_view bind) {
  std::vector<std::string_view> addresses;
  for (const std::string_view word : Split(bind, ' ')) {
    if (word.empty() || word.starts_with('-')) continue;
    addresses.push_back(word == "*" ? "0.0.0.0" : word == "::*" ? "::" : word);
  }
  return addresses;
}

bool HasAddress(std::string_view bind) {
  return bind.find_first_not_of(' ') != std::string_view::npos;
}

// Whether one of the addresses is the other one, or stands for all addresses of its family.
bool Overlap(std::string_view one, std::string_view other) {
  const auto is_v6 = [](std::string_view address) { return address.find(':') != address.npos; };
  const auto is_any = [](std::string_view address) {
    return address == "0.0.0.0" || address == "::";
  };
  return one == other || (is_v6(one) == is_v6(other) && (is_any(one) || is_any(other)));
}

absl::Status CheckApart(const Listening& one, const Listening& other) {
  if (one.port != other.port) return absl::OkStatus();
  for (const std::string_view address : one.addresses) {
    for (const std::string_view another : other.addresses) {
      if (!Overlap(address, another)) continue;
      return Refusal(std::string(other.setting) + " is the same as " + std::string(one.setting) +
                     ": " + std::to_string(one.port));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDirectoryOf(std::string_view setting, const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (directory.empty() || std::filesystem::is_directory(directory, ignored)) {
    return absl::OkStatus();
  }
  return Refusal(std::string(setting) + ": there is no directory '" + directory.string() + "'");
}

}  // namespace

absl::Status CheckListening(const Settings& settings, std::optional<int64_t> bus_port) {
  const bool has_port = settings.port != 0 || settings.tls_port != 0;
  if (settings.unixsocket.empty() && !has_port) {
    return Refusal("No client could connect: set port, tls-port or unixsocket");
  }
  const bool needs_address = bus_port || settings.unixsocket.empty();
  if (needs_address && !HasAddress(settings.bind)) {
    return Refusal("bind: there is no address to listen on");
  }
  if (settings.metrics_port != 0 && !HasAddress(settings.metrics_bind)) {
    return Refusal("metrics-bind: there is no address to listen on");
  }
  const std::vector<std::string_view> addresses = RequiredIn(settings.bind);
  std::vector<Listening> all = {
      {"port", settings.port, addresses},
      {"tls-port", settings.tls_port, addresses},
      {"metrics-port", settings.metrics_port, RequiredIn(settings.metrics_bind)},
      {"the port of the cluster bus", bus_port.value_or(0), addresses}};
  std::erase_if(all, [](const Listening& each) { return each.port == 0; });
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = i + 1; j < all.size(); ++j) {
      if (absl::Status apart = CheckApart(all[i], all[j]); !apart.ok()) return apart;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPaths(const Settings& settings) {
  if (settings.unixsocket.size() >= sizeof(sockaddr_un::sun_path)) {
    return Refusal("unixsocket: the path is longer than " +
                   std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
  }
  const std::pair<std::string_view, std::string> files[] = {
      {"logfile", settings.logfile},
      {"unixsocket", settings.unixsocket},
      {"cluster-config-file", settings.cluster_enabled ? settings.cluster_config_file : ""}};
  for (const auto& [setting, path] : files) {
    if (absl::Status found = CheckDirectoryOf(setting, path); !found.ok()) return found;
  }
  return absl::OkStatus();
}

}  // namespace zsetd
