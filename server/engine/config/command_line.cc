#include "server/engine/config/command_line.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <vector>

#include "server/engine/config/settings_file.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

bool IsOption(std::string_view word) { return word.starts_with("--"); }

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, word) != names.end();
}

absl::Status ReadFileArgument(std::string_view path, CommandLine& line) {
  if (path == "-") return ReadSettings(std::cin, "standard input", line.settings);
  std::error_code ignored;  // then the path stays as it is
  line.config_file = std::filesystem::absolute(path, ignored).lexically_normal();
  return ReadSettingsFile(line.config_file, line.settings);
}

// `words` is an option and its values. --save with none is the empty value, as in Redis.
absl::Status ReadOption(Args words, Settings& settings) {
  std::vector<std::string_view> setting(words.begin(), words.end());
  setting[0].remove_prefix(2);
  if (setting.size() == 1 && EqualsIgnoringCase(setting[0], "save")) setting.emplace_back();
  const absl::Status status = SetFromWords(setting, settings);
  if (status.ok()) return status;
  std::string option;
  for (const std::string_view word : words) option += " " + std::string(word);
  return Refusal("Reading the command line\n>>> '" + option.substr(1) + "'\n" +
                 std::string(ErrorLine(status)));
}

}  // namespace

absl::Status ReadCommandLine(Args words, CommandLine& line) {
  if (words.size() == 1) {
    line.help = IsOneOf(words[0], {"--help", "-h"});
    line.version = IsOneOf(words[0], {"--version", "-v"});
    if (line.help || line.version) return absl::OkStatus();
  }
  std::string refusals;
  const auto collect = [&](const absl::Status& status) {
    if (!status.ok()) refusals += (refusals.empty() ? "" : "\n") + std::string(ErrorLine(status));
  };
  if (!words.empty() && !IsOption(words[0])) {
    collect(ReadFileArgument(words[0], line));
    words = words.subspan(1);
  }
  while (!words.empty()) {
    const auto next = std::find_if(words.begin() + 1, words.end(), IsOption);
    const size_t count = next - words.begin();
    collect(ReadOption(words.first(count), line.settings));
    words = words.subspan(count);
  }
  return refusals.empty() ? absl::OkStatus() : Refusal(refusals);
}

std::string HelpText() {
  std::string text =
      "usage: zsetd [FILE | -] [--SETTING VALUE ...]...\n"
      "       zsetd --help | --version\n"
      "\n"
      "Starts the server with the settings from a file or standard input and the command line.\n"
      "conf/zsetd.conf documents all settings; other settings of Redis are accepted and have no\n"
      "effect. The defaults are\n"
      "\n";
  const Settings defaults;
  for (const Setting& setting : AllSettings()) {
    if (!setting.HasEffect()) continue;
    const std::string value = ValueOf(setting, defaults);
    text += "  --" + std::string(setting.name) + " " + (value.empty() ? "\"\"" : value) + "\n";
  }
  return text;
}

}  // namespace zsetd
