#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/engine.h"
#include "server/persistence/file/data_directory.h"
#include "server/persistence/file/file.h"
#include "server/persistence/log/log_manifest.h"
#include "server/persistence/snapshot/snapshot_file.h"

namespace zsetd {

// The directory of the append-only log (the settings `appenddirname` and `appendfilename`): the
// names of its files, and the manifest that lists the files of the log.
class LogDirectory {
 public:
  // The arguments outlive this.
  LogDirectory(const Engine& engine, FileSystem& files, const DataDirectory& data)
      : engine_(engine), files_(files), data_(data) {}

  FileSystem& files() const { return files_; }

  // From now on the log is in this data directory, an absolute path, even if the setting `dir`
  // changes. After Leave() it is in the present `dir` again.
  void StayIn(std::string data_path) { data_path_ = std::move(data_path); }
  void Leave() { data_path_.clear(); }

  // Absolute paths.
  std::string path() const;
  std::string PathOf(const std::string& name) const { return path() + "/" + name; }

  std::string ManifestName() const;
  std::string BaseName(uint64_t number) const;
  std::string IncrementalName(uint64_t number) const;

  // Whether a log exists on the disk.
  absl::StatusOr<bool> HasLog() const;

  // Creates the directory, unless it exists, and removes drafts that a killed server has left.
  absl::Status Create() const;

  // Like Create(), but does nothing if the directory exists.
  absl::Status CreateIfMissing() const;

  // Reads the manifest; kNotFound if it does not exist. A log in one file, the layout of Redis
  // before version 7, is moved here first and becomes the base.
  absl::Status Open();

  // Like Open(), but does not move a log of the old layout.
  absl::Status ReadManifest();

  // The last manifest that was read or written.
  const LogManifest& manifest() const { return manifest_; }
  void set_manifest(LogManifest manifest) { manifest_ = std::move(manifest); }

  // Removes files that a rewrite before the start has replaced, as far as possible.
  void RemoveHistory();

  // Creates the next incremental file and adds it to the manifest.
  absl::StatusOr<std::unique_ptr<WritableFile>> AddIncremental();

  // A snapshot file that gets this name when it is complete.
  std::unique_ptr<SnapshotFile> CreateBase(const std::string& name);

 private:
  std::string DataPath() const { return data_path_.empty() ? data_.path() : data_path_; }
  std::string OldPath() const;
  absl::Status NameOldLog();

  const Engine& engine_;
  FileSystem& files_;
  const DataDirectory& data_;
  std::string data_path_;  // empty: the log follows `data_`
  LogManifest manifest_;
  uint64_t drafts_ = 0;
};

// "Cannot <do> '<path>': <why>", human-readable.
absl::Status LogRefusal(const std::string& what, const std::string& path, const absl::Status& why);

}  // namespace zsetd
