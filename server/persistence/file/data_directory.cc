#include "server/persistence/file/data_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "server/engine/support/errors.h"
#include "server/persistence/file/drafts.h"

namespace zsetd {

std::string Megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

std::string Rate(uint64_t bytes, Micros took) {
  const auto micros = static_cast<uint64_t>(std::max<int64_t>(took.count(), 1));
  return std::to_string(bytes / micros) + " MB/s";
}

std::string DataDirectory::PathIn(const Settings& settings) {
  if (settings.dir.starts_with('/')) return settings.dir;
  std::error_code error;  // the directory was removed; opening files in it reports that
  return std::filesystem::current_path(error);
}

absl::Status DataDirectory::Lock(const std::string& directory) {
  if (directory == last_.path) return absl::OkStatus();
  if (directory == kept_.path) {
    last_ = kept_;
    return absl::OkStatus();
  }
  Locked locked = {.path = directory, .lock = nullptr};
  auto lock = files_.Lock(directory);
  if (absl::IsUnimplemented(lock.status())) {
    log_.Write(LogLevel::kWarning,
               "The file system of '" + directory +
                   "' does not support locks. Make sure that no other server uses this directory");
  } else if (!lock.ok()) {
    return Refusal("cannot open the directory '" + directory +
                   "': " + std::string(ErrorLine(lock.status())));
  } else if (*lock == nullptr) {
    return Refusal("another server keeps its data in the directory '" + directory +
                   "'. Set a different `dir` for one of them");
  } else {
    locked.lock = *std::move(lock);
  }
  last_ = std::move(locked);
  RemoveDrafts(files_, directory);
  return absl::OkStatus();
}

}  // namespace zsetd
