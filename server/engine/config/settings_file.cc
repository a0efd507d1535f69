#include "server/engine/config/settings_file.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "protocol/resp/inline_words.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/whole_file.h"

namespace zsetd {
namespace {

constexpr int kMaxIncludeDepth = 16;   // here ends a file that includes itself
constexpr size_t kMostRefusals = 100;  // reported for a file that is no configuration

// Removes surrounding spaces; a comment becomes empty.
std::string_view Trimmed(std::string_view line) {
  const size_t start = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(start);
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return line.starts_with('#') ? std::string_view() : line;
}

// Returns a pattern that matches only this path.
std::string Escaped(const std::string& path) {
  std::string pattern;
  for (const char byte : path) {
    if (std::string_view("*?[\\").find(byte) != std::string_view::npos) pattern += '\\';
    pattern += byte;
  }
  return pattern;
}

std::string PathIn(const std::string& directory, const std::string& path) {
  return std::filesystem::path(directory) / path;
}

// The paths that an include refers to. A pattern may match none.
std::vector<std::string> IncludedPaths(const std::string& directory, const std::string& path) {
  if (path.find_first_of("*?[") == std::string::npos) return {PathIn(directory, path)};
  glob_t found = {};
  std::vector<std::string> paths;
  if (glob(PathIn(Escaped(directory), path).c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

// Reads a text and all files that it includes to the end, and collects the refusals.
class Reader {
 public:
  Reader(Settings& settings, const OnDirective& accepted, std::string directory = {})
      : settings_(settings), accepted_(accepted), directory_(std::move(directory)) {}

  void ReadText(std::istream& text, std::string_view origin, int depth) {
    size_t number = 0;
    for (std::string line; !stopped_ && std::getline(text, line);) {
      ++number;
      const std::string_view trimmed = Trimmed(line);
      const absl::Status status = ReadTrimmed(trimmed, depth);
      if (status.ok()) continue;
      Refuse("Reading " + std::string(origin) + ", at line " + std::to_string(number) + "\n>>> '" +
             std::string(trimmed) + "'\n" + std::string(ErrorLine(status)));
    }
  }

  // The refusals in files that the line includes are in the status of Result().
  absl::Status ReadLine(std::string_view line) { return ReadTrimmed(Trimmed(line), 0); }

  // Refuses only what keeps the file from being read at all.
  absl::Status ReadFile(const std::string& path, int depth) {
    absl::StatusOr<std::string> text = ReadTextFile(path);
    if (!text.ok()) {
      return Refusal("can't read '" + path + "': " + std::string(ErrorLine(text.status())));
    }
    std::istringstream lines(*std::move(text));
    ReadText(lines, path, depth);
    return absl::OkStatus();
  }

  absl::Status Result() const {
    if (refusals_.empty()) return absl::OkStatus();
    const std::string more =
        count_ > kMostRefusals
            ? "\nand " + std::to_string(count_ - kMostRefusals) + " more such lines"
            : "";
    return Refusal(refusals_ + more);
  }

 private:
  absl::Status ReadTrimmed(std::string_view line, int depth) {
    if (line.empty()) return absl::OkStatus();
    const auto texts = SplitWords(line);
    if (!texts) return Refusal("Unbalanced quotes in configuration line");
    const std::vector<std::string_view> words(texts->begin(), texts->end());
    if (words.empty()) return absl::OkStatus();
    const bool includes = words.size() == 2 && EqualsIgnoringCase(words[0], "include");
    if (includes) return Include(texts->at(1), depth);
    const absl::Status status = SetFromWords(words, settings_);
    if (status.ok() && accepted_ != nullptr) accepted_(words[0]);
    return status;
  }

  absl::Status Include(const std::string& pattern, int depth) {
    if (depth == kMaxIncludeDepth) {
      stopped_ = true;  // each level may include several: to go on could take forever
      return Refusal("files include each other too deeply");
    }
    for (const std::string& path : IncludedPaths(directory_, pattern)) {
      if (absl::Status status = ReadFile(path, depth + 1); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  void Refuse(const std::string& text) {
    if (++count_ > kMostRefusals) return;
    refusals_ += (refusals_.empty() ? "" : "\n") + text;
  }

  Settings& settings_;
  const OnDirective& accepted_;
  const std::string directory_;
  std::string refusals_;
  size_t count_ = 0;
  bool stopped_ = false;
};

}  // namespace

absl::Status ReadSettings(std::istream& text, std::string_view origin, Settings& settings,
                          const OnDirective& accepted, const std::string& directory) {
  Reader reader(settings, accepted, directory);
  reader.ReadText(text, origin, 0);
  return reader.Result();
}

absl::Status ReadSettingsLine(std::string_view line, Settings& settings,
                              const OnDirective& accepted) {
  Reader reader(settings, accepted);
  const absl::Status status = reader.ReadLine(line);
  return status.ok() ? reader.Result() : status;
}

absl::Status ReadSettingsFile(const std::string& path, Settings& settings,
                              const OnDirective& accepted, const std::string& directory) {
  Reader reader(settings, accepted, directory);
  const absl::Status status = reader.ReadFile(path, 0);
  return status.ok() ? reader.Result() : status;
}

}  // namespace zsetd
