// Access to the disk. All data files go through a FileSystem. Tests replace it with one that
// records operations, loses unsynced bytes, or fails.
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

// A file that is open for appending. The destructor closes it. Errors contain the system's reason
// without the path.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  // Appends all of the bytes.
  virtual absl::Status Write(std::string_view bytes) = 0;

  // Return when all written bytes are on the disk. SyncData() may leave out metadata, like
  // fdatasync(2). After an error it is unknown which of the written bytes are on the disk, and
  // another sync does not help.
  virtual absl::Status SyncData() = 0;
  virtual absl::Status Sync() = 0;

  // Asks the system to start writing these bytes to the disk, which shortens the next sync. Does
  // not wait, reports no error, and makes nothing durable.
  virtual void StartWriteBack(uint64_t offset, uint64_t bytes) = 0;

  // Truncates the file to this size; the next write continues there.
  virtual absl::Status Truncate(uint64_t size) = 0;

  // Advises the system to drop the file from the page cache, because it will not be read soon.
  virtual void DropFromCache() = 0;
};

// A file that is read sequentially from its beginning.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  virtual uint64_t size() const = 0;  // at the time of opening

  // Fills `space` unless the file ends first. Returns the number of bytes read; 0 at the end.
  virtual absl::StatusOr<size_t> Read(std::span<char> space) = 0;
};

// While this object exists, no other process can lock the directory.
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

  // Opens the file for reading. kNotFound if it does not exist.
  virtual absl::StatusOr<std::unique_ptr<ReadableFile>> Open(const std::string& path) = 0;

  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;

  // Creates the directory, unless it exists.
  virtual absl::Status CreateDirectory(const std::string& path) = 0;

  // Returns when all creations, renames and removals in the directory are on the disk.
  virtual absl::Status SyncDirectory(const std::string& path) = 0;

  // The names of the files in the directory.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& directory) = 0;

  // Locks the directory. Null if another process holds the lock. kUnimplemented if the file system
  // does not support locks.
  virtual absl::StatusOr<std::unique_ptr<DirectoryLock>> Lock(const std::string& directory) = 0;
};

// The file system of the operating system. Thread-safe.
FileSystem& SystemFiles();

}  // namespace zsetd
