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

// The directory of the server's data files (the setting `dir`). A lock keeps other servers out.
class DataDirectory {
 public:
  // The arguments outlive this.
  DataDirectory(const Engine& engine, FileSystem& files, const Log& log)
      : engine_(engine), files_(files), log_(log) {}

  // The absolute path.
  std::string path() const;

  // Locks the directory for this process and removes drafts that a killed server has left. Has no
  // effect if this process holds the lock already. Must be called before any write to the
  // directory. An error is human-readable.
  absl::Status Lock();

 private:
  const Engine& engine_;
  FileSystem& files_;
  const Log& log_;
  std::unique_ptr<DirectoryLock> lock_;  // null: not locked yet, or the file system has no locks
  std::string locked_;                   // the directory of `lock_`
};

}  // namespace zsetd
