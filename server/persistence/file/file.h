// The only access to the disk. All data files go through a FileSystem, so that tests can replace it
// by one that records operations, loses unsynced bytes, or fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace zsetd {

// A file that is being written at its end. It is closed with the object. An error is the system's
// reason, without the path.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  // Appends all of the bytes.
  virtual absl::Status Write(std::string_view bytes) = 0;

  // Returns when all that was written is on the disk; the one need not bring its metadata there.
  // After an error nothing is known of what was written before, and to sync again is no remedy.
  virtual absl::Status SyncData() = 0;
  virtual absl::Status Sync() = 0;

  // Asks the system to start writing these bytes to the disk. Waits for none of them, reports no
  // error, and makes nothing durable: it shortens the next sync.
  virtual void StartWriteBack(uint64_t offset, uint64_t bytes) = 0;

  // Truncates the file to this size; the next write continues there.
  virtual absl::Status Truncate(uint64_t size) = 0;

  // Advises the system to keep none of it in memory: it is not going to be read soon.
  virtual void DropFromCache() = 0;
};

// A file that is being read from its beginning.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  virtual uint64_t size() const = 0;  // when it was opened

  // Reads some bytes, as many as there is space for unless the file ends; 0 at its end.
  virtual absl::StatusOr<size_t> Read(std::span<char> space) = 0;
};

// As long as it lives, no other process has this directory locked.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Creates the file, or empties it.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;

  // Opens the file to append to it. kNotFound if it does not exist.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Append(const std::string& path) = 0;

  // absl::StatusCode::kNotFound if it does not exist.
  virtual absl::StatusOr<std::unique_ptr<ReadableFile>> Open(const std::string& path) = 0;

  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;

  // Creates the directory, unless it exists.
  virtual absl::Status CreateDirectory(const std::string& path) = 0;

  // Returns when files that were created, renamed and removed in the directory are so on the disk.
  virtual absl::Status SyncDirectory(const std::string& path) = 0;

  // The names of the files in it.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& directory) = 0;

  // Null if another process has it. kUnimplemented where the file system has no locks.
  virtual absl::StatusOr<std::unique_ptr<DirectoryLock>> Lock(const std::string& directory) = 0;
};

// That of the operating system. All its methods may be called by several threads at the same time.
FileSystem& SystemFiles();

}  // namespace zsetd
