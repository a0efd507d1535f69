#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/persistence/file/file.h"

namespace zsetd {

// A file for a snapshot that another server sends. The destructor removes the file.
class ReceivedSnapshot {
 public:
  // Creates the file. `path` is absolute. `files` outlives the object.
  static absl::StatusOr<std::unique_ptr<ReceivedSnapshot>> Create(FileSystem& files,
                                                                  std::string path);
  ~ReceivedSnapshot();
  ReceivedSnapshot(const ReceivedSnapshot&) = delete;

  // Appends received bytes. Returns an error if the write fails, or if the first bytes are not of a
  // version that this server can read. So a useless snapshot is detected before the server drops
  // its own data.
  absl::Status Write(std::string_view bytes);

  // Must be called when all bytes have arrived.
  absl::Status Finish();

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }

 private:
  ReceivedSnapshot(FileSystem& files, std::string path, std::unique_ptr<WritableFile> file);
  absl::Status CheckMagic() const;

  FileSystem& files_;
  const std::string path_;
  std::unique_ptr<WritableFile> file_;
  std::string magic_;  // the first bytes
  uint64_t size_ = 0;
};

}  // namespace zsetd
