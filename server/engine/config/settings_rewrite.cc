#include "server/engine/config/settings_rewrite.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "protocol/resp/inline_words.h"
#include "server/engine/config/settings_file.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/atomic_file_write.h"
#include "server/engine/support/split.h"

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

Settings ReadSettings(const std::string& text) {
  Settings settings;
  std::istringstream stream(text);
  (void)ReadSettings(stream, "", settings);  // errors in it are not new
  return settings;
}

bool SameValue(const Setting& setting, const Settings& a, const Settings& b) {
  return ValueOf(setting, a) == ValueOf(setting, b);
}

}  // namespace

// In a cluster, nodes.conf states the master, and a server refuses to start with both.
std::string RewriteSettings(const std::string& text, const Settings& settings) {
  if (settings.cluster_enabled && !settings.replicaof.empty()) {
    Settings without_master = settings;
    without_master.replicaof.clear();
    return RewriteSettings(text, without_master);
  }
  std::string result;
  std::set<const Setting*> said;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (IsUser(line)) continue;
    const Setting* setting = SettingOf(line);
    const bool first = setting == nullptr || said.insert(setting).second;
    if (!first) continue;
    const bool right = setting == nullptr || SameValue(*setting, ReadSettings(line), settings);
    result += right ? line + "\n" : LineOf(*setting, settings);
  }
  const Settings so_far = ReadSettings(result);
  for (const Setting& setting : AllSettings()) {
    if (!SameValue(setting, so_far, settings)) result += LineOf(setting, settings);
  }
  for (const std::vector<std::string>& user : settings.users) result += LineOf(user);
  return result;
}

absl::Status RewriteSettingsFile(const std::string& path, const Settings& settings) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::error_code ignored;  // of a deleted file: only the owner may read a new one
  const std::filesystem::file_status old = std::filesystem::status(path, ignored);
  const auto permissions = exists(old) ? old.permissions() : std::filesystem::perms(0600);
  return ReplaceFile(path, RewriteSettings(text.str(), settings), permissions);
}

}  // namespace zsetd
