#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/engine.h"
#include "server/engine/support/server_log.h"
#include "server/persistence/file/file.h"

namespace zsetd {

// For such lines: "12 MB", and the rate "12 MB/s".
std::string Megabytes(uint64_t bytes);
std::string Rate(uint64_t bytes, Micros took);

// The directory that the server keeps its data in (the setting `dir`), which no other server may
// use at the same time.
class DataDirectory {
 public:
  // All of them outlive it.
  DataDirectory(const Engine& engine, FileSystem& files, const ServerLog& log)
      : engine_(engine), files_(files), log_(log) {}

  // The absolute path.
  std::string path() const;

  // Takes the directory for this process and removes drafts that a killed server has left; it has
  // no effect if this process has the directory already. Must be called before any write there. The
  // refusal is human-readable.
  absl::Status Lock();

 private:
  const Engine& engine_;
  FileSystem& files_;
  const ServerLog& log_;
  std::unique_ptr<DirectoryLock> lock_;  // null where there are no locks, or none was needed yet
  std::string locked_;                   // the directory
};

}  // namespace zsetd
