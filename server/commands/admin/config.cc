#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/util/glob.h"
#include "server/commands/admin/families.h"
#include "server/commands/common/help.h"
#include "server/engine/admin_call.h"
#include "server/engine/config/settings_rewrite.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/request/request_checks.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/network_control.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/scripting.h"
#include "server/engine/services/services.h"
#include "server/engine/services/snapshot_control.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

using NamedSetting = std::pair<std::string_view, const Setting*>;

void Add(std::string_view name, const Setting& setting, std::vector<NamedSetting>& found) {
  const bool known = std::ranges::any_of(
      found, [&](const NamedSetting& each) { return EqualsIgnoringCase(each.first, name); });
  if (!known) found.emplace_back(name, &setting);
}

// If the pattern is the exact name of a setting, the result has the spelling of the request.
void AddMatches(std::string_view pattern, std::vector<NamedSetting>& found) {
  if (const Setting* setting = FindSetting(pattern)) return Add(pattern, *setting, found);
  for (const Setting& setting : AllSettings()) {
    for (const std::string_view name : {setting.name, setting.alias}) {
      if (!name.empty() && GlobMatchesIgnoringCase(pattern, name)) Add(name, setting, found);
    }
  }
}

void ConfigGet(AdminCall& call) {
  std::vector<NamedSetting> found;
  for (const std::string_view pattern : call.args.Rest()) AddMatches(pattern, found);
  call.reply.Map(found.size());
  for (const auto& [name, setting] : found) {
    call.reply.Bulk(name);
    call.reply.Bulk(ValueOf(*setting, call.engine.settings()));
  }
}

absl::Status Failure(std::string_view name, std::string_view reason) {
  return Refusal("ERR CONFIG SET failed (possibly related to argument '" + std::string(name) +
                 "') - " + std::string(reason));
}

// Whether the setting can be changed to this value now.
bool MayChange(const Setting& setting, std::string_view value, const Settings& settings) {
  return setting.changes_live || (setting.changes_later && ValueOf(setting, settings) == value);
}

// Checks that each pair starts with the name of a setting that can be changed, and that no name is
// repeated.
absl::Status CheckNames(Args pairs, const Settings& settings, bool may_set_protected) {
  std::vector<const Setting*> seen;
  for (size_t at = 0; at < pairs.size(); at += 2) {
    const std::string_view name = pairs[at];
    const Setting* setting = FindSetting(name);
    if (setting == nullptr) {
      return Refusal("ERR Unknown option or number of arguments for CONFIG SET - " + Quoted(name));
    }
    if (setting->is_protected && !may_set_protected) {
      return Failure(name, "can't set protected config");
    }
    if (!MayChange(*setting, pairs[at + 1], settings)) {
      return Failure(name, "can't set immutable config");
    }
    if (std::ranges::count(seen, setting) > 0) return Failure(name, "duplicate parameter");
    seen.push_back(setting);
  }
  return absl::OkStatus();
}

absl::Status SetPairs(Args pairs, Settings& settings) {
  for (size_t at = 0; at < pairs.size(); at += 2) {
    const Setting& setting = *FindSetting(pairs[at]);
    const absl::Status status = SetValue(setting, settings, pairs[at + 1]);
    if (!status.ok()) return Failure(pairs[at], ErrorLine(status));
    if (setting.is_tls_file) ++settings.tls_files_named;
  }
  return absl::OkStatus();
}

// A relative path would mean another directory after this change. CONFIG GET shows the full path.
absl::Status MakeDirectoryAbsolute(Settings& settings) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(settings.dir, error);
  if (error) return Failure("dir", error.message());
  settings.dir = path;
  return absl::OkStatus();
}

// The host may refuse a combination of settings. The error then names the first one.
absl::Status Configure(Engine& engine, std::string_view name, const Settings& settings) {
  const absl::Status status = engine.Configure(settings);
  return status.ok() ? status : Failure(name, ErrorLine(status));
}

// Sets all pairs or none of them.
void ConfigSet(AdminCall& call) {
  const Args pairs = call.args.Rest();
  if (pairs.size() % 2 != 0) return call.Fail(kSyntaxError);
  Settings settings = call.engine.settings();
  absl::Status status =
      CheckNames(pairs, settings, MayDoProtected(call.client(), settings.enable_protected_configs));
  if (status.ok()) status = SetPairs(pairs, settings);
  if (status.ok() && settings.dir != call.engine.settings().dir) {
    status = MakeDirectoryAbsolute(settings);
  }
  if (status.ok()) status = Configure(call.engine, pairs[0], settings);
  if (!status.ok()) return call.Fail(status);
  call.reply.Ok();
}

void ConfigResetStat(AdminCall& call) {
  call.engine.metrics().Reset();
  call.engine.store().gauge().ResetFreedObjects();
  const Services& services = call.engine.services();
  services.scripting->ResetStats();
  services.snapshots->ResetStats();
  services.append_log->ResetStats();
  services.replicas->ResetStats();
  services.network->ResetStats();
  call.reply.Ok();
}

// Writes the present settings into the configuration file, or into its rewrite-file.
absl::Status SaveSettings(const Engine& engine, const Host& host) {
  Settings settings = engine.settings();
  settings.users = engine.access().UserLines();
  if (settings.rewrite_file.empty()) {
    return RewriteSettingsFile(host.config_file, settings, host.start_directory);
  }
  Settings configured;
  const absl::Status status =
      ReadSettingsFile(host.config_file, configured, nullptr, host.start_directory);
  if (!status.ok()) return status;
  configured.users = engine.access().UserLinesOf(configured);
  return WriteRewriteFile(configured, settings);
}

void ConfigRewrite(AdminCall& call) {
  const Host& host = call.engine.host();
  if (host.config_file.empty()) return call.Fail("ERR The server is running without a config file");
  const absl::Status status = SaveSettings(call.engine, host);
  if (!status.ok()) {
    return call.Fail("ERR Rewriting config file: " + std::string(ErrorLine(status)));
  }
  call.reply.Ok();
}

// Returns the indexes of the values that are passwords. Includes values of unknown names, because
// the name may be misspelt.
std::vector<size_t> SecretsOfConfigSet(Args argv) {
  std::vector<size_t> secrets;
  for (size_t at = 2; at + 1 < argv.size(); at += 2) {
    const Setting* const setting = FindSetting(argv[at]);
    if (setting == nullptr || setting->is_secret) secrets.push_back(at + 1);
  }
  return secrets;
}

constexpr uint32_t kConfigFlags = kAdmin | kNoScript | kLoading | kStale;

constexpr Command kConfigCommands[] = {
    {.name = "config",
     .arity = -2,
     .group = CommandGroup::kServer,
     .since = "2.0.0",
     .summary = "Reads and changes the configuration.",
     .cost = "Depends on the subcommand"},
    {.name = "config|get",
     .run = ConfigGet,
     .arity = -3,
     .flags = kConfigFlags,
     .group = CommandGroup::kServer,
     .since = "2.0.0",
     .usage = "pattern [pattern ...]",
     .summary = "Returns the parameters whose names match a pattern.",
     .cost = "O(N) for N patterns"},
    {.name = "config|set",
     .run = ConfigSet,
     .arity = -4,
     .flags = kConfigFlags,
     .group = CommandGroup::kServer,
     .since = "2.0.0",
     .usage = "setting value [setting value ...]",
     .summary = "Sets configuration parameters, atomically.",
     .cost = "O(N) for N settings",
     .tips = "request_policy:all_nodes response_policy:all_succeeded",
     .secrets = SecretsOfConfigSet},
    {.name = "config|resetstat",
     .run = ConfigResetStat,
     .arity = 2,
     .flags = kConfigFlags,
     .group = CommandGroup::kServer,
     .since = "2.0.0",
     .summary = "Resets the statistics reported by INFO.",
     .cost = "O(N) for N commands in the table"},
    {.name = "config|rewrite",
     .run = ConfigRewrite,
     .arity = 2,
     .flags = kConfigFlags,
     .group = CommandGroup::kServer,
     .since = "2.8.0",
     .summary = "Writes the current configuration to the configuration file, keeping its comments.",
     .cost = "O(N) for N lines of the file"},
    {.name = "config|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kServer,
     .since = "5.0.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> ConfigCommands() { return kConfigCommands; }

}  // namespace zsetd
