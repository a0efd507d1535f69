#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/cluster/nodes_journal.h"

namespace zsetd {

// Where a node keeps the text of nodes.conf. Errors are human-readable.
class NodesStorage {
 public:
  virtual ~NodesStorage() = default;

  // Returns the text; nullopt if it was never saved.
  virtual absl::StatusOr<std::optional<std::string>> Load() = 0;

  // Replaces the text, completely or not at all. When this returns OK the text survives the end of
  // the process, and with `is_synced` a power failure. Without it, a power failure may restore any
  // text since the last one that was synced.
  virtual absl::Status Save(std::string_view text, bool is_synced) = 0;
};

// The file of the setting cluster-config-file. It is locked, so that no second server uses it, and
// replaced as a whole. Texts that are saved without a sync go to a journal (nodes_journal.h), which
// the next start reads.
class NodesFile : public NodesStorage {
 public:
  explicit NodesFile(std::string path) : path_(std::move(path)), journal_(path_ + ".unsynced") {}
  NodesFile(const NodesFile&) = delete;
  ~NodesFile() override;

  // Locks the file, which is created empty if it does not exist, and reads it.
  absl::StatusOr<std::optional<std::string>> Load() override;

  // Costs two syncs to disk if it is synced, and one more for a journal that has records.
  absl::Status Save(std::string_view text, bool is_synced) override;

 private:
  absl::Status Lock();
  absl::StatusOr<std::string> Read() const;
  absl::Status Replace(std::string_view text);

  const std::string path_;
  NodesJournal journal_;
  int lock_ = -1;  // a descriptor of the locked file
};

}  // namespace zsetd
