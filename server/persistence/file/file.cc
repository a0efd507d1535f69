#include "server/persistence/file/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

absl::Status ErrorOf(int number) {
  const std::string text = std::generic_category().message(number);
  return number == ENOENT ? absl::NotFoundError(text) : absl::InternalError(text);
}

// An open file, closed with the object.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, mode_t mode = 0)
      : number_(::open(path.c_str(), flags | O_CLOEXEC, mode)), error_(errno) {}
  Descriptor(Descriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)), error_(other.error_) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int number() const { return number_; }
  absl::Status status() const { return number_ >= 0 ? absl::OkStatus() : ErrorOf(error_); }

 private:
  int number_;
  int error_;  // errno, if open() failed
};

absl::Status SyncAll(const Descriptor& file) {
  return ::fsync(file.number()) == 0 ? absl::OkStatus() : ErrorOf(errno);
}

class SystemWritableFile : public WritableFile {
 public:
  explicit SystemWritableFile(Descriptor file) : file_(std::move(file)) {}

  absl::Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.number(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ErrorOf(errno);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

  absl::Status SyncData() override {
    return ::fdatasync(file_.number()) == 0 ? absl::OkStatus() : ErrorOf(errno);
  }
  absl::Status Sync() override { return SyncAll(file_); }

  void StartWriteBack(uint64_t offset, uint64_t bytes) override {
    (void)::sync_file_range(file_.number(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                            SYNC_FILE_RANGE_WRITE);
  }

  // The descriptor is open with O_APPEND, so the next write goes to the new end.
  absl::Status Truncate(uint64_t size) override {
    return ::ftruncate(file_.number(), static_cast<off_t>(size)) == 0 ? absl::OkStatus()
                                                                      : ErrorOf(errno);
  }
  void DropFromCache() override {
    (void)::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_DONTNEED);
  }

 private:
  Descriptor file_;
};

class SystemReadableFile : public ReadableFile {
 public:
  SystemReadableFile(Descriptor file, uint64_t size) : file_(std::move(file)), size_(size) {}

  uint64_t size() const override { return size_; }

  absl::StatusOr<size_t> Read(std::span<char> space) override {
    size_t count = 0;
    while (count < space.size()) {
      const ssize_t read = ::read(file_.number(), space.data() + count, space.size() - count);
      if (read < 0 && errno == EINTR) continue;
      if (read < 0) return ErrorOf(errno);
      if (read == 0) break;
      count += static_cast<size_t>(read);
    }
    return count;
  }

 private:
  Descriptor file_;
  uint64_t size_;
};

class SystemLock : public DirectoryLock {
 public:
  explicit SystemLock(Descriptor directory) : directory_(std::move(directory)) {}

 private:
  Descriptor directory_;  // closing it releases the lock
};

class SystemFileSystem : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    return OpenToWrite(path, O_CREAT | O_TRUNC);
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> Append(const std::string& path) override {
    return OpenToWrite(path, 0);
  }

  absl::StatusOr<std::unique_ptr<ReadableFile>> Open(const std::string& path) override {
    Descriptor file(path, O_RDONLY);
    if (!file.status().ok()) return file.status();
    struct stat about {};
    if (::fstat(file.number(), &about) != 0) return ErrorOf(errno);
    if (S_ISDIR(about.st_mode)) return ErrorOf(EISDIR);
    (void)::posix_fadvise(file.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
    return std::make_unique<SystemReadableFile>(std::move(file),
                                                static_cast<uint64_t>(about.st_size));
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : ErrorOf(errno);
  }

  absl::Status Remove(const std::string& path) override {
    return ::unlink(path.c_str()) == 0 ? absl::OkStatus() : ErrorOf(errno);
  }

  absl::Status CreateDirectory(const std::string& path) override {
    constexpr mode_t kPermissions = 0755;
    if (::mkdir(path.c_str(), kPermissions) == 0 || errno == EEXIST) return absl::OkStatus();
    return ErrorOf(errno);
  }

  absl::Status SyncDirectory(const std::string& path) override {
    const Descriptor directory(path, O_RDONLY | O_DIRECTORY);
    return directory.status().ok() ? SyncAll(directory) : directory.status();
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    std::error_code error;
    std::vector<std::string> names;
    std::filesystem::directory_iterator at(directory, error);
    while (!error && at != std::filesystem::directory_iterator()) {
      names.push_back(at->path().filename());
      at.increment(error);
    }
    if (error) return ErrorOf(error.value());
    return names;
  }

  // Uses flock(2): the kernel releases the lock when the process ends, and no lock file remains.
  absl::StatusOr<std::unique_ptr<DirectoryLock>> Lock(const std::string& directory) override {
    Descriptor opened(directory, O_RDONLY | O_DIRECTORY);
    if (!opened.status().ok()) return opened.status();
    if (::flock(opened.number(), LOCK_EX | LOCK_NB) == 0) {
      return std::make_unique<SystemLock>(std::move(opened));
    }
    if (errno == EWOULDBLOCK) return std::unique_ptr<DirectoryLock>();
    return absl::UnimplementedError(std::generic_category().message(errno));
  }

 private:
  static absl::StatusOr<std::unique_ptr<WritableFile>> OpenToWrite(const std::string& path,
                                                                   int flags) {
    constexpr mode_t kPermissions = 0644;  // reduced by the process's umask
    Descriptor file(path, O_WRONLY | O_APPEND | flags, kPermissions);
    if (!file.status().ok()) return file.status();
    return std::make_unique<SystemWritableFile>(std::move(file));
  }
};

}  // namespace

FileSystem& SystemFiles() {
  static SystemFileSystem files;
  return files;
}

}  // namespace zsetd
