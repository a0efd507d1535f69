#include "server/engine/config/settings_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "protocol/resp/inline_words.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr int kMaxIncludeDepth = 16;  // here ends a file that includes itself

absl::Status ReadText(std::istream& text, std::string_view origin, Settings& settings, int depth);

absl::Status ReadFile(const std::string& path, Settings& settings, int depth) {
  std::ifstream file(path);
  file.peek();  // a folder opens, but cannot be read
  if (!file) return Refusal("can't read '" + path + "': " + std::strerror(errno));
  return ReadText(file, path, settings, depth);
}

// Drops the spaces around; what is left of a comment is nothing.
std::string_view Trimmed(std::string_view line) {
  const size_t start = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(start);
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return line.starts_with('#') ? std::string_view() : line;
}

absl::Status ReadLine(std::string_view line, Settings& settings, int depth) {
  if (line.empty()) return absl::OkStatus();
  const auto texts = SplitWords(line);
  if (!texts) return Refusal("Unbalanced quotes in configuration line");
  const std::vector<std::string_view> words(texts->begin(), texts->end());
  const bool includes = words.size() == 2 && EqualsIgnoringCase(words[0], "include");
  if (!includes) return SetFromWords(words, settings);
  if (depth == kMaxIncludeDepth) return Refusal("files include each other too deeply");
  return ReadFile(texts->at(1), settings, depth + 1);
}

absl::Status ReadText(std::istream& text, std::string_view origin, Settings& settings, int depth) {
  size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const std::string_view trimmed = Trimmed(line);
    const absl::Status status = ReadLine(trimmed, settings, depth);
    if (status.ok()) continue;
    return Refusal("Reading " + std::string(origin) + ", at line " + std::to_string(number) +
                   "\n>>> '" + std::string(trimmed) + "'\n" + std::string(ErrorLine(status)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadSettings(std::istream& text, std::string_view origin, Settings& settings) {
  return ReadText(text, origin, settings, 0);
}

absl::Status ReadSettingsFile(const std::string& path, Settings& settings) {
  return ReadFile(path, settings, 0);
}

}  // namespace zsetd
