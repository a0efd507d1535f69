#include "tests/support/memory_files.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zsetd {
namespace {

using Kind = MemoryFiles::Operation::Kind;

// A disk in the state that the operations produce. Files have numbers, so a renaming moves the name
// and not the contents.
class Replay {
 public:
  explicit Replay(const MemoryFiles::Contents& before) {
    for (const auto& [path, bytes] : before) {
      names_[path] = static_cast<int>(files_.size());
      files_.push_back({bytes, bytes.size()});
    }
    durable_names_ = names_;
  }

  void Do(const MemoryFiles::Operation& operation) {
    switch (operation.kind) {
      case Kind::kCreate:
        names_[operation.path] = static_cast<int>(files_.size());
        files_.emplace_back();
        names_history_.push_back(names_);
        break;
      case Kind::kWrite:
        files_[names_.at(operation.path)].bytes += operation.bytes;
        break;
      case Kind::kTruncate: {
        File& file = files_[names_.at(operation.path)];
        file.bytes.resize(operation.size);
        file.synced = std::min(file.synced, file.bytes.size());
        break;
      }
      case Kind::kSyncData:
      case Kind::kSync: {
        File& file = files_[names_.at(operation.path)];
        file.synced = std::max(file.synced, std::min<size_t>(operation.size, file.bytes.size()));
        break;
      }
      case Kind::kRename: {
        const int file = names_.at(operation.path);
        names_.erase(operation.path);
        names_[operation.to] = file;
        names_history_.push_back(names_);
        break;
      }
      case Kind::kRemove:
        names_.erase(operation.path);
        names_history_.push_back(names_);
        break;
      case Kind::kSyncDirectory:
        durable_names_ = names_;
        names_history_.clear();
        break;
    }
  }

  // Combines each state of the names since the last sync of the directory with none, half or all of
  // the bytes that are not synced.
  std::vector<MemoryFiles::Contents> CrashStates() const {
    std::vector<std::map<std::string, int>> names = names_history_;
    names.push_back(durable_names_);
    std::vector<MemoryFiles::Contents> states;
    for (const auto& each : names) {
      for (const int halves : {0, 1, 2}) {
        MemoryFiles::Contents contents;
        for (const auto& [path, number] : each) {
          const File& file = files_[number];
          const size_t kept = file.synced + (file.bytes.size() - file.synced) * halves / 2;
          contents[path] = file.bytes.substr(0, kept);
        }
        states.push_back(std::move(contents));
      }
    }
    return states;
  }

 private:
  struct File {
    std::string bytes;
    size_t synced = 0;
  };

  std::vector<File> files_;
  std::map<std::string, int> names_;
  std::map<std::string, int> durable_names_;
  std::vector<std::map<std::string, int>> names_history_;  // since the last sync of the directory
};

}  // namespace

class MemoryFiles::Writer : public WritableFile {
 public:
  Writer(MemoryFiles& files, std::string path) : files_(files), path_(std::move(path)) {}

  absl::Status Write(std::string_view bytes) override {
    return files_.Do({.kind = Kind::kWrite, .path = path_, .bytes = std::string(bytes)});
  }
  absl::Status SyncData() override { return files_.Sync(Kind::kSyncData, path_); }
  absl::Status Sync() override { return files_.Sync(Kind::kSync, path_); }
  void StartWriteBack(uint64_t, uint64_t) override {}
  absl::Status Truncate(uint64_t size) override {
    return files_.Do({.kind = Kind::kTruncate, .path = path_, .size = size});
  }
  void DropFromCache() override {}

 private:
  MemoryFiles& files_;
  const std::string path_;
};

class MemoryFiles::Reader : public ReadableFile {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  uint64_t size() const override { return bytes_.size(); }
  absl::StatusOr<size_t> Read(std::span<char> space) override {
    const size_t count = std::min(space.size(), bytes_.size() - at_);
    std::memcpy(space.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  const std::string bytes_;
  size_t at_ = 0;
};

class MemoryFiles::Held : public DirectoryLock {
 public:
  Held(MemoryFiles& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}
  ~Held() override {
    const std::lock_guard lock(files_.mutex_);
    files_.locked_.erase(directory_);
  }

 private:
  MemoryFiles& files_;
  const std::string directory_;
};

absl::Status MemoryFiles::Do(Operation operation) {
  if (absl::Status status = FailureOf(operation); !status.ok()) return status;
  const std::lock_guard lock(mutex_);
  switch (operation.kind) {
    case Kind::kCreate:
      contents_[operation.path] = "";
      break;
    case Kind::kWrite:
      contents_[operation.path] += operation.bytes;
      break;
    case Kind::kTruncate:
      contents_[operation.path].resize(operation.size);
      break;
    case Kind::kRename:
      contents_[operation.to] = std::move(contents_[operation.path]);
      contents_.erase(operation.path);
      break;
    case Kind::kRemove:
      contents_.erase(operation.path);
      break;
    default:
      break;
  }
  operations_.push_back(std::move(operation));
  return absl::OkStatus();
}

// Bytes that are written during the sync may not be on the disk after it.
absl::Status MemoryFiles::Sync(Operation::Kind kind, const std::string& path) {
  uint64_t size = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = contents_.find(path);
    if (found != contents_.end()) size = found->second.size();
  }
  return Do({.kind = kind, .path = path, .size = size});
}

absl::StatusOr<std::unique_ptr<WritableFile>> MemoryFiles::Create(const std::string& path) {
  const absl::Status status = Do({.kind = Kind::kCreate, .path = path});
  if (!status.ok()) return status;
  return std::make_unique<Writer>(*this, path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> MemoryFiles::Append(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!contents_.contains(path)) return absl::NotFoundError("No such file or directory");
  return std::make_unique<Writer>(*this, path);
}

absl::StatusOr<std::unique_ptr<ReadableFile>> MemoryFiles::Open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = contents_.find(path);
  if (found == contents_.end()) return absl::NotFoundError("No such file or directory");
  return std::make_unique<Reader>(found->second);
}

absl::Status MemoryFiles::Rename(const std::string& from, const std::string& to) {
  return Do({.kind = Kind::kRename, .path = from, .to = to});
}

absl::Status MemoryFiles::Remove(const std::string& path) {
  return Do({.kind = Kind::kRemove, .path = path});
}

// A directory exists only as part of paths.
absl::Status MemoryFiles::CreateDirectory(const std::string&) { return absl::OkStatus(); }

absl::Status MemoryFiles::SyncDirectory(const std::string& path) {
  return Do({.kind = Kind::kSyncDirectory, .path = path});
}

absl::StatusOr<std::vector<std::string>> MemoryFiles::List(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [path, bytes] : contents_) {
    if (path.starts_with(directory + "/")) names.push_back(path.substr(directory.size() + 1));
  }
  return names;
}

absl::StatusOr<std::unique_ptr<DirectoryLock>> MemoryFiles::Lock(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  if (!locked_.insert(directory).second) return std::unique_ptr<DirectoryLock>();
  return std::make_unique<Held>(*this, directory);
}

void MemoryFiles::set_failure(std::function<absl::Status(const Operation&)> fails) {
  const std::lock_guard lock(failure_mutex_);
  fails_ = std::move(fails);
}

absl::Status MemoryFiles::FailureOf(const Operation& operation) {
  const std::shared_lock lock(failure_mutex_);
  return fails_ ? fails_(operation) : absl::OkStatus();
}

MemoryFiles::Contents MemoryFiles::contents() const {
  const std::lock_guard lock(mutex_);
  return contents_;
}

void MemoryFiles::set_contents(const std::string& path, std::string bytes) {
  const std::lock_guard lock(mutex_);
  contents_[path] = std::move(bytes);
  if (operations_.empty()) before_ = contents_;
}

std::vector<MemoryFiles::Operation> MemoryFiles::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

std::vector<MemoryFiles::Contents> MemoryFiles::CrashStates(size_t count) const {
  const std::lock_guard lock(mutex_);
  Replay replay(before_);
  for (size_t i = 0; i < count; ++i) replay.Do(operations_[i]);
  return replay.CrashStates();
}

}  // namespace zsetd
