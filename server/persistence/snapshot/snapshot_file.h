#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/persistence/file/file.h"
#include "server/persistence/snapshot/snapshot_sink.h"

namespace zsetd {

// Replaces an older snapshot file, completely or not at all. The new file is written next to the
// old one, synced and renamed, and then the directory is synced. At every instant the name belongs
// to a complete file. When Finish() returns OK, the new file survives a crash of the machine.
//
// The destructor removes an unfinished file.
class SnapshotFile : public SnapshotSink {
 public:
  struct Options {
    bool with_checksum = true;   // rdbchecksum
    bool syncs_in_steps = true;  // rdb-save-incremental-fsync
    std::string directory;       // absolute
    std::string name;            // the final name of the file
    std::string draft_name;      // the name of the file while it is written
  };

  SnapshotFile(FileSystem& files, Options options);
  ~SnapshotFile() override;

 private:
  absl::Status Put(std::string_view bytes) override;
  absl::Status Complete() override;
  static absl::Status Explain(const absl::Status& status, std::string_view doing,
                              const std::string& path);
  std::string PathOf(const std::string& name) const;

  FileSystem& files_;
  const Options options_;
  std::unique_ptr<WritableFile> file_;  // null when the file has its final name
  absl::Status create_error_;
  uint64_t unsynced_ = 0;  // bytes
};

}  // namespace zsetd
