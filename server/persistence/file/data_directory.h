#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/engine.h"
#include "server/engine/support/log.h"
#include "server/persistence/file/file.h"

namespace zsetd {

// Texts for log lines: a size such as "12 MB", and a rate such as "12 MB/s".
std::string Megabytes(uint64_t bytes);
std::string Rate(uint64_t bytes, Micros took);

// The directory of the server's data files (the setting `dir`). A lock keeps other servers out. The
// log stays in its directory if the setting changes, so there may be a second locked directory.
class DataDirectory {
 public:
  // The arguments outlive this.
  DataDirectory(const Engine& engine, FileSystem& files, const Log& log)
      : engine_(engine), files_(files), log_(log) {}

  // The absolute path.
  std::string path() const { return PathIn(engine_.settings()); }
  static std::string PathIn(const Settings& settings);

  // Locks the directory for this process and removes drafts that a killed server has left. Has no
  // effect if this process holds the lock already. Must be called before any write to the
  // directory. An error is human-readable.
  absl::Status Lock() { return Lock(path()); }

  // Like Lock(), but for a directory that is about to be set. The path is absolute.
  absl::Status Lock(const std::string& directory);

  // Keeps the lock of the directory that was locked last until Release().
  void Keep() { kept_ = last_; }
  void Release() { kept_ = {}; }

 private:
  struct Locked {
    std::string path;
    std::shared_ptr<DirectoryLock> lock;  // null: the file system has no locks
  };

  const Engine& engine_;
  FileSystem& files_;
  const Log& log_;
  Locked last_;  // without a path: not locked yet
  Locked kept_;  // without a path: none
};

}  // namespace zsetd
