#include "server/engine/config/command_line.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

#include "server/engine/config/settings_file.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

bool IsOption(std::string_view word) { return word.starts_with("--"); }

constexpr std::string_view kCheckConfig = "--check-config";

// Adds the name that the table of settings has for it, unless it is there already.
void NoteDirective(std::string_view name, std::vector<std::string>& directives) {
  const Setting* const setting = FindSetting(name);
  std::string known = setting == nullptr ? LowerCase(name) : std::string(setting->name);
  if (std::ranges::find(directives, known) != directives.end()) return;
  directives.push_back(std::move(known));
}

// What a line asks for that starts no server and reads no settings.
std::optional<CommandLine::Task> TaskOf(Args words) {
  const std::string_view first = words.empty() ? "" : words[0];
  if (words.size() == 2 && first == "--help" && words[1] == "all") {
    return CommandLine::Task::kHelpAll;
  }
  if (words.size() != 1) return std::nullopt;
  if (first == "--help" || first == "-h") return CommandLine::Task::kHelp;
  if (first == "--version" || first == "-v") return CommandLine::Task::kVersion;
  if (first == "--list-settings") return CommandLine::Task::kListSettings;
  return std::nullopt;
}

absl::Status ReadFileArgument(std::string_view path, CommandLine& line) {
  const auto accepted = [&](std::string_view name) { NoteDirective(name, line.directives); };
  if (path == "-") return ReadSettings(std::cin, "standard input", line.settings, accepted);
  std::error_code ignored;  // then the path stays as it is
  line.config_file = std::filesystem::absolute(path, ignored).lexically_normal();
  return ReadSettingsFile(line.config_file, line.settings, accepted);
}

// `words` is an option and its values. --save with none is the empty value, as in Redis.
absl::Status ReadOption(Args words, CommandLine& line) {
  std::vector<std::string_view> setting(words.begin(), words.end());
  setting[0].remove_prefix(2);
  if (setting.size() == 1 && EqualsIgnoringCase(setting[0], "save")) setting.emplace_back();
  const absl::Status status = SetFromWords(setting, line.settings);
  if (status.ok()) {
    NoteDirective(setting[0], line.directives);
    return status;
  }
  std::string option;
  for (const std::string_view word : words) option += " " + std::string(word);
  return Refusal("Reading the command line\n>>> '" + option.substr(1) + "'\n" +
                 std::string(ErrorLine(status)));
}

}  // namespace

absl::Status ReadCommandLine(Args words, CommandLine& line) {
  if (const auto task = TaskOf(words)) {
    line.task = *task;
    return absl::OkStatus();
  }
  if (!words.empty() && words[0] == kCheckConfig) {
    line.task = CommandLine::Task::kCheckConfig;
    words = words.subspan(1);
    if (words.empty() || IsOption(words[0])) {
      return Refusal("--check-config needs the name of a file, or - for standard input");
    }
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
    collect(ReadOption(words.first(count), line));
    words = words.subspan(count);
  }
  return refusals.empty() ? absl::OkStatus() : Refusal(refusals);
}

}  // namespace zsetd
