#include "server/persistence/log/log_manifest.h"

#include <algorithm>
#include <utility>

#include "protocol/resp/inline_words.h"
#include "protocol/text/number_text.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr char kBase = 'b';
constexpr char kIncremental = 'i';
constexpr char kHistory = 'h';

// The contents of one line.
struct Line {
  LogFile file;
  char type = 0;
};

void Append(const LogFile& file, char type, std::string& text) {
  text += "file " + QuoteWord(file.name) + " seq " + std::to_string(file.number) + " type " + type +
          "\n";
}

// Words come in pairs: a field and its value. Unknown fields are ignored; newer versions may add
// some.
absl::StatusOr<Line> ParseLine(std::string_view text) {
  const auto words = SplitWords(text);
  if (!words || words->size() % 2 != 0) return Refusal("not a list of fields and values");
  Line line;
  for (size_t i = 0; i < words->size(); i += 2) {
    const std::string& field = (*words)[i];
    const std::string& value = (*words)[i + 1];
    if (field == "file") line.file.name = value;
    if (field == "type" && value.size() == 1) line.type = value[0];
    if (field != "seq") continue;
    const std::optional<int64_t> number = ParseInteger(value);
    if (!number || *number < 1) return Refusal("the number of the file is wrong");
    line.file.number = static_cast<uint64_t>(*number);
  }
  const std::string& name = line.file.name;
  if (name.empty() || name.find('/') != std::string::npos || name.starts_with("..")) {
    return Refusal("the name of the file is missing or is a path");
  }
  if (line.file.number == 0) return Refusal("the number of the file is missing");
  return line;
}

// Adds the file; false if its type or number contradicts the files before it.
bool Add(Line line, LogManifest& manifest) {
  switch (line.type) {
    case kBase:
      if (manifest.base) return false;
      manifest.base = std::move(line.file);
      return true;
    case kIncremental:
      if (!manifest.incremental.empty() && line.file.number <= manifest.incremental.back().number) {
        return false;
      }
      manifest.incremental.push_back(std::move(line.file));
      return true;
    case kHistory:
      manifest.history.push_back(std::move(line.file));
      return true;
    default:
      return false;
  }
}

constexpr uint64_t kMostManifestBytes = 1u << 20;

absl::StatusOr<std::string> ReadWhole(ReadableFile& file) {
  if (file.size() > kMostManifestBytes) return Refusal("too long for a manifest");
  std::string text(file.size(), '\0');
  const absl::StatusOr<size_t> count = file.Read(text);
  if (!count.ok()) return count.status();
  text.resize(*count);
  return text;
}

absl::Status WriteDraft(FileSystem& files, const std::string& path, std::string_view text) {
  auto file = files.Create(path);
  absl::Status status = file.status();
  if (status.ok()) status = (*file)->Write(text);
  if (status.ok()) status = (*file)->Sync();
  return status;
}

}  // namespace

uint64_t LogManifest::LastNumber() const {
  const uint64_t of_base = base ? base->number : 0;
  return incremental.empty() ? of_base : std::max(of_base, incremental.back().number);
}

bool LogManifest::Needs(const std::string& name) const {
  const auto has_name = [&](const LogFile& file) { return file.name == name; };
  return (base && has_name(*base)) || std::any_of(incremental.begin(), incremental.end(), has_name);
}

std::string ManifestText(const LogManifest& manifest) {
  std::string text;
  if (manifest.base) Append(*manifest.base, kBase, text);
  for (const LogFile& file : manifest.history) {
    if (!manifest.Needs(file.name)) Append(file, kHistory, text);
  }
  for (const LogFile& file : manifest.incremental) Append(file, kIncremental, text);
  return text;
}

absl::StatusOr<LogManifest> ParseManifest(std::string_view text) {
  LogManifest manifest;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string where = "line " + std::to_string(++number) + ": ";
    if (end == std::string_view::npos) return Refusal(where + "the line feed is missing");
    const std::string_view rest = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (rest.starts_with('#')) continue;
    absl::StatusOr<Line> line = ParseLine(rest);
    if (!line.ok()) return Refusal(where + std::string(ErrorLine(line.status())));
    if (!Add(*std::move(line), manifest)) {
      return Refusal(where + "the file's type or order is wrong");
    }
  }
  if (!manifest.base && manifest.incremental.empty()) return Refusal("the manifest names no file");
  return manifest;
}

absl::Status WriteManifest(FileSystem& files, const std::string& directory, const std::string& name,
                           const LogManifest& manifest, bool& is_uncertain) {
  const std::string draft = directory + "/temp-" + name;
  absl::Status status = WriteDraft(files, draft, ManifestText(manifest));
  // Makes the files that the manifest names durable before the manifest.
  if (status.ok()) status = files.SyncDirectory(directory);
  if (status.ok()) status = files.Rename(draft, directory + "/" + name);
  if (!status.ok()) {
    (void)files.Remove(draft);
    return status;
  }
  status = files.SyncDirectory(directory);
  is_uncertain = !status.ok();
  return status;
}

// A crash between the steps leaves a manifest whose history files may be missing. That is harmless.
LogManifest RemoveHistory(FileSystem& files, const std::string& directory, const std::string& name,
                          const LogManifest& manifest) {
  if (manifest.history.empty()) return manifest;
  LogManifest rest = manifest;
  rest.history.clear();
  for (const LogFile& file : manifest.history) {
    if (manifest.Needs(file.name) || file.name == name) continue;
    const absl::Status status = files.Remove(directory + "/" + file.name);
    if (!status.ok() && !absl::IsNotFound(status)) rest.history.push_back(file);
  }
  if (rest == manifest) return manifest;
  bool is_uncertain = false;  // harmless: both manifests need the same files
  return WriteManifest(files, directory, name, rest, is_uncertain).ok() ? rest : manifest;
}

absl::StatusOr<LogManifest> ReadManifest(FileSystem& files, const std::string& path) {
  auto file = files.Open(path);
  if (absl::IsNotFound(file.status())) return file.status();
  const absl::StatusOr<std::string> text =
      file.ok() ? ReadWhole(**file) : absl::StatusOr<std::string>(file.status());
  absl::StatusOr<LogManifest> manifest =
      text.ok() ? ParseManifest(*text) : absl::StatusOr<LogManifest>(text.status());
  if (manifest.ok()) return manifest;
  return Refusal("Cannot read the manifest '" + path +
                 "': " + std::string(ErrorLine(manifest.status())));
}

}  // namespace zsetd
