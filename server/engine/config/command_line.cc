#include "server/engine/config/command_line.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/inline_words.h"
#include "server/engine/config/settings_file.h"
#include "server/engine/config/settings_rewrite.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

bool IsOption(std::string_view word) { return word.starts_with("--"); }

constexpr std::string_view kCheckConfig = "--check-config";

// Adds the name under which the table of settings has the directive, unless the list holds it.
void NoteDirective(std::string_view name, std::vector<std::string>& directives) {
  const Setting* const setting = FindSetting(name);
  std::string known = setting == nullptr ? LowerCase(name) : std::string(setting->name);
  if (std::ranges::find(directives, known) != directives.end()) return;
  directives.push_back(std::move(known));
}

// The task of a line that starts no server and reads no settings. As in Redis, the first word
// decides, whatever follows.
std::optional<CommandLine::Task> TaskOf(Args words) {
  const std::string_view first = words.empty() ? "" : words[0];
  if (first == "--help" && words.size() == 2 && words[1] == "all") {
    return CommandLine::Task::kHelpAll;
  }
  if (first == "--help" || first == "-h") return CommandLine::Task::kHelp;
  if (first == "--version" || first == "-v") return CommandLine::Task::kVersion;
  if (first == "--list-settings") return CommandLine::Task::kListSettings;
  return std::nullopt;
}

// Passes the names of accepted directives to `line`.
OnDirective NotesIn(CommandLine& line) {
  return [&line](std::string_view name) { NoteDirective(name, line.directives); };
}

absl::Status ReadFileArgument(std::string_view path, CommandLine& line) {
  std::error_code ignored;  // then the path stays as it is
  line.directory = std::filesystem::current_path(ignored);
  line.config_file = std::filesystem::absolute(path, ignored).lexically_normal();
  return ReadSettingsFile(line.config_file, line.settings, NotesIn(line));
}

// An option as text of a configuration file, in which "--maxmemory 700mb" of one word is the same
// as two words.
struct Option {
  std::string shown;  // the words as they were given
  std::string text;
};

bool IsNameOnly(std::string_view word) {
  const auto parts = SplitWords(word);
  return parts && parts->size() == 1;
}

// Groups the words into options by Redis's rules. The word after a bare name is its value even if
// it starts with --. The exception is --save: without a value it stands for the empty value, unless
// it is followed by the "-" for standard input (`input_follows`): then it has no value.
std::vector<Option> OptionsOf(Args words, bool input_follows) {
  std::vector<Option> options;
  bool awaits_value = false;  // the last word was a bare name
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (!awaits_value && IsOption(word)) {
      options.push_back({.shown = std::string(word), .text = std::string(word.substr(2)) + " "});
      const bool is_last = at + 1 == words.size();
      awaits_value = IsNameOnly(word);
      const bool has_no_value = is_last ? !input_follows : IsOption(words[at + 1]);
      if (EqualsIgnoringCase(word, "--save") && has_no_value) {
        options.back().text += "\"\"";
        awaits_value = false;
      }
      continue;
    }
    if (options.empty()) options.emplace_back();  // without a name, which is refused
    Option& option = options.back();
    option.shown += (option.shown.empty() ? "" : " ") + std::string(word);
    option.text += QuoteWord(word) + " ";
    awaits_value = false;
  }
  return options;
}

absl::Status ReadOption(const Option& option, CommandLine& line) {
  for (const std::string_view text : Split(option.text, '\n')) {
    const absl::Status status = ReadSettingsLine(text, line.settings, NotesIn(line));
    if (status.ok()) continue;
    return Refusal("Reading the command line\n>>> '" + option.shown + "'\n" +
                   std::string(ErrorLine(status)));
  }
  return absl::OkStatus();
}

struct StandardInput {
  bool is_first;
  bool is_last;
};

// Removes the "-" for standard input from the words: the last one and, if `may_be_first`, the
// first.
StandardInput TakeStandardInput(Args& words, bool may_be_first) {
  constexpr std::string_view kStandardInput = "-";
  const bool is_first = may_be_first && !words.empty() && words.front() == kStandardInput;
  if (is_first) words = words.subspan(1);
  const bool is_last = !words.empty() && words.back() == kStandardInput;
  if (is_last) words = words.first(words.size() - 1);
  return {is_first, is_last};
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
  const bool has_file = !words.empty() && !words[0].starts_with('-');
  if (has_file) {
    collect(ReadFileArgument(words[0], line));
    collect(ReadRewriteFile(line.config_file, line.settings, NotesIn(line)));
    words = words.subspan(1);
  }
  const std::string rewrite_file = line.settings.rewrite_file;
  const StandardInput input = TakeStandardInput(words, /*may_be_first=*/!has_file);
  if (input.is_first || input.is_last) {
    collect(ReadSettings(std::cin, "standard input", line.settings, NotesIn(line)));
  }
  for (const Option& option : OptionsOf(words, input.is_last)) collect(ReadOption(option, line));
  if (line.settings.rewrite_file != rewrite_file) {
    collect(Refusal("rewrite-file: only the configuration file may contain it"));
  }
  return refusals.empty() ? absl::OkStatus() : Refusal(refusals);
}

}  // namespace zsetd
