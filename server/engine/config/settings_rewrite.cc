#include "server/engine/config/settings_rewrite.h"

#include <cassert>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/resp/inline_words.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"
#include "server/engine/support/whole_file.h"

namespace zsetd {
namespace {

// The setting in a line, or null for a comment, an include and unknown words.
const Setting* SettingOf(const std::string& line) {
  const auto words = SplitWords(line);
  return words && !words->empty() ? FindSetting(words->front()) : nullptr;
}

// The words of a value, quoted as the reader splits them. A single word is split once more, so it
// is quoted twice if that would change it.
std::string QuoteWords(std::string_view value) {
  const std::vector<std::string_view> words = Split(value, ' ');
  if (words.size() == 1) {
    const std::string quoted = QuoteWord(value);
    return " " + (quoted == value ? quoted : QuoteWord(quoted));
  }
  std::string line;
  for (const std::string_view word : words) line += " " + QuoteWord(word);
  return line;
}

// Quotes every word that needs it, so that no value can be read back as another line.
std::string LineOf(const Setting& setting, const Settings& settings) {
  const std::string value = ValueOf(setting, settings);
  const bool has_words = setting.many_words && !value.empty();
  const std::string line = has_words ? QuoteWords(value) : " " + QuoteWord(value);
  return std::string(setting.name) + line + "\n";
}

bool IsUser(const std::string& line) {
  const auto words = SplitWords(line);
  return words && !words->empty() && EqualsIgnoringCase(words->front(), "user");
}

std::string LineOf(const std::vector<std::string>& user) {
  std::string line = "user";
  for (const std::string& word : user) line += " " + QuoteWord(word);
  return line + "\n";
}

Settings ReadSettings(const std::string& text, const std::string& directory) {
  Settings settings;
  std::istringstream stream(text);
  (void)ReadSettings(stream, "", settings, nullptr, directory);  // CheckText() reports errors
  return settings;
}

bool SameValue(const Setting& setting, const Settings& a, const Settings& b) {
  return ValueOf(setting, a) == ValueOf(setting, b);
}

// The line that replaces one with another value. redis-server refuses an empty `replicaof`, which
// is the default, so the line is left out.
std::string NewLineOf(const Setting& setting, const Settings& settings) {
  const bool is_left_out = setting.name == "replicaof" && settings.replicaof.empty();
  return is_left_out ? "" : LineOf(setting, settings);
}

// Returns the settings that a file may have. In a cluster, nodes.conf states the master, and a
// server refuses to start with both.
Settings Storable(const Settings& settings) {
  Settings storable = settings;
  if (storable.cluster_enabled) storable.replicaof.clear();
  return storable;
}

// Returns the lines of the settings whose values in `before` are others. A line of save points
// after others would add to them, so a line that removes the others comes first.
std::string ChangedLines(const Settings& before, const Settings& settings) {
  std::string lines;
  for (const Setting& setting : AllSettings()) {
    if (SameValue(setting, before, settings)) continue;
    const bool adds = setting.name == "save" && before.save.configured && settings.save.Any();
    if (adds) lines += "save \"\"\n";
    lines += LineOf(setting, settings);
  }
  return lines;
}

std::string UserLines(const Settings& settings) {
  std::string lines;
  for (const std::vector<std::string>& user : settings.users) lines += LineOf(user);
  return lines;
}

// Checks that a start with this file has the settings and users.
absl::Status CheckText(const std::string& text, const Settings& all, const std::string& directory) {
  const Settings settings = Storable(all);
  Settings read;
  std::istringstream stream(text);
  const absl::Status status = ReadSettings(stream, "the rewritten file", read, nullptr, directory);
  if (!status.ok()) return status;
  for (const Setting& setting : AllSettings()) {
    if (SameValue(setting, read, settings)) continue;
    return Refusal("the rewritten file would set '" + std::string(setting.name) +
                   "' to another value");
  }
  if (read.users == settings.users) return absl::OkStatus();
  return Refusal("an included file defines users; move them to the configuration file");
}

}  // namespace

std::string RewriteSettings(const std::string& text, const Settings& all,
                            const std::string& directory) {
  const Settings settings = Storable(all);
  std::string result;
  std::set<const Setting*> said;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (IsUser(line)) continue;
    const Setting* setting = SettingOf(line);
    const bool first = setting == nullptr || said.insert(setting).second;
    if (!first) continue;
    const bool right =
        setting == nullptr || SameValue(*setting, ReadSettings(line, directory), settings);
    result += right ? line + "\n" : NewLineOf(*setting, settings);
  }
  result += ChangedLines(ReadSettings(result, directory), settings);
  return result + UserLines(settings);
}

absl::Status RewriteSettingsFile(const std::string& path, const Settings& settings,
                                 const std::string& directory) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string rewritten = RewriteSettings(text.str(), settings, directory);
  const absl::Status status = CheckText(rewritten, settings, directory);
  return status.ok() ? ReplaceFile(path, rewritten, PermissionsOf(path)) : status;
}

absl::Status WriteRewriteFile(const Settings& configured, const Settings& settings) {
  const std::string& path = settings.rewrite_file;
  assert(!path.empty());
  Settings before = configured;
  before.rewrite_file = path;      // the line belongs to the configuration file
  before.save.configured = false;  // ReadRewriteFile() replaces the save points
  std::string text =
      "# Written by CONFIG REWRITE, which replaces this file. These settings have priority over\n"
      "# those of the configuration file.\n";
  text += ChangedLines(before, Storable(settings));
  if (settings.users != before.users) text += UserLines(settings);
  return ReplaceFile(path, text, PermissionsOf(path));
}

absl::Status ReadRewriteFile(const std::string& config_file, Settings& settings,
                             const OnDirective& accepted) {
  const std::string path = settings.rewrite_file;
  if (path.empty()) return absl::OkStatus();
  if (std::filesystem::path(path).lexically_normal() == config_file) {
    return Refusal("rewrite-file: it must be another file than the configuration file");
  }
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return absl::OkStatus();
  std::vector<std::vector<std::string>> users;
  users.swap(settings.users);
  const bool has_save_points = std::exchange(settings.save.configured, false);
  const absl::Status status = ReadSettingsFile(path, settings, accepted);
  if (settings.users.empty() || !settings.aclfile.empty()) settings.users.swap(users);
  settings.save.configured |= has_save_points;
  settings.rewrite_file = path;
  return status;
}

}  // namespace zsetd
