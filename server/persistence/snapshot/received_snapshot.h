#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/persistence/file/file.h"

namespace zsetd {

// A snapshot that another server sends, in a file while it comes. The file is removed with the
// object.
class ReceivedSnapshot {
 public:
  // Creates the file, whose path is absolute. `files` outlives it.
  static absl::StatusOr<std::unique_ptr<ReceivedSnapshot>> Create(FileSystem& files,
                                                                  std::string path);
  ~ReceivedSnapshot();
  ReceivedSnapshot(const ReceivedSnapshot&) = delete;

  // Appends received bytes. An error states what failed, or that this server cannot read such a
  // file. So this is known before the server drops its own data.
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
