#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "server/persistence/file/file.h"

namespace zsetd {

// A disk in memory that records its operations and fails on demand. It computes the states that a
// machine crash may leave: unsynced data may be present, missing or cut off anywhere.
class MemoryFiles : public FileSystem {
 public:
  struct Operation {
    enum class Kind {
      kCreate,
      kWrite,
      kTruncate,
      kSyncData,
      kSync,
      kRename,
      kRemove,
      kSyncDirectory
    };
    Kind kind;
    std::string path;
    std::string to = {};     // the new path of a renaming
    std::string bytes = {};  // the bytes of a write
    uint64_t size = 0;       // the size after truncation, or when the sync began
  };
  using Contents = std::map<std::string, std::string>;  // files by path

  absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> Append(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<ReadableFile>> Open(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status CreateDirectory(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<DirectoryLock>> Lock(const std::string& directory) override;

  // Operations for which it returns an error fail, and change nothing. Several threads may call it
  // at the same time. It may wait; other operations continue.
  void set_failure(std::function<absl::Status(const Operation&)> fails);

  // Returns the files as programs see them.
  Contents contents() const;
  void set_contents(const std::string& path, std::string bytes);

  std::vector<Operation> operations() const;

  // Returns the possible states of the disk if the machine crashes after the first `count`
  // operations.
  std::vector<Contents> CrashStates(size_t count) const;

 private:
  class Writer;
  class Reader;
  class Held;

  absl::Status Do(Operation operation);
  absl::Status Sync(Operation::Kind kind, const std::string& path);
  absl::Status FailureOf(const Operation& operation);

  mutable std::mutex mutex_;
  Contents contents_;
  Contents before_;  // before the recorded operations
  std::vector<Operation> operations_;
  std::shared_mutex failure_mutex_;
  std::function<absl::Status(const Operation&)> fails_;
  std::set<std::string> locked_;
};

}  // namespace zsetd
