#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/persistence/file/file.h"

namespace zsetd {

// Puts a snapshot in the place of an older one, as a whole or not at all: it is written beside it,
// synced, renamed, and then the directory is synced. At every instant the name belongs to a whole
// file, and when Finish() returns OK the new one survives a crash of the machine.
//
// After the first error everything returns that error; the destructor removes what is unfinished.
class SnapshotFile {
 public:
  struct Options {
    bool with_checksum = true;   // rdbchecksum
    bool syncs_in_steps = true;  // rdb-save-incremental-fsync
    std::string directory;       // absolute
    std::string name;            // of the file in it
    std::string draft_name;      // while it is written
  };

  SnapshotFile(FileSystem& files, Options options);
  SnapshotFile(const SnapshotFile&) = delete;
  ~SnapshotFile();

  absl::Status Write(std::string_view bytes);

  // Writes the checksum and puts the file in its place.
  absl::Status Finish();

  uint64_t size() const { return size_; }  // bytes written

 private:
  absl::Status Record(absl::Status status, std::string_view doing, const std::string& path);
  std::string PathOf(const std::string& name) const;

  FileSystem& files_;
  const Options options_;
  std::unique_ptr<WritableFile> file_;  // null once it is in its place
  absl::Status status_;                 // the first error
  uint64_t checksum_ = 0;
  uint64_t size_ = 0;
  uint64_t synced_ = 0;  // bytes
};

}  // namespace zsetd
