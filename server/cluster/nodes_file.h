#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace zsetd {

// Where a node keeps the text of nodes.conf. Errors are human-readable.
class NodesStorage {
 public:
  virtual ~NodesStorage() = default;

  // Returns the text; nullopt if it was never saved.
  virtual absl::StatusOr<std::optional<std::string>> Load() = 0;

  // Replaces the text, completely or not at all. With `is_synced` it survives a power failure when
  // this returns OK.
  virtual absl::Status Save(std::string_view text, bool is_synced) = 0;
};

// The file of the setting cluster-config-file. It is locked, so that no second server uses it, and
// replaced as a whole.
class NodesFile : public NodesStorage {
 public:
  explicit NodesFile(std::string path) : path_(std::move(path)) {}
  NodesFile(const NodesFile&) = delete;
  ~NodesFile() override;

  // Locks the file, which is created empty if it does not exist, and reads it.
  absl::StatusOr<std::optional<std::string>> Load() override;

  // Costs two syncs to disk, if it is synced.
  absl::Status Save(std::string_view text, bool is_synced) override;

 private:
  absl::Status Lock();

  const std::string path_;
  int lock_ = -1;  // a descriptor of the locked file
};

}  // namespace zsetd
