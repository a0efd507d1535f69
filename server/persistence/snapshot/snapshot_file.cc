#include "server/persistence/snapshot/snapshot_file.h"

#include <utility>

#include "protocol/rdb/append_number.h"
#include "protocol/rdb/crc64.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

// So that the last sync is short, and those of other files wait for no more than this meanwhile.
constexpr uint64_t kSyncStep = 32u << 20;

}  // namespace

SnapshotFile::SnapshotFile(FileSystem& files, Options options)
    : files_(files), options_(std::move(options)) {
  const std::string path = PathOf(options_.draft_name);
  auto created = files_.Create(path);
  if (created.ok()) {
    file_ = *std::move(created);
  } else {
    (void)Record(created.status(), "create", path);
  }
}

SnapshotFile::~SnapshotFile() {
  if (file_ == nullptr) return;
  file_.reset();
  (void)files_.Remove(PathOf(options_.draft_name));
}

std::string SnapshotFile::PathOf(const std::string& name) const {
  return options_.directory + "/" + name;
}

absl::Status SnapshotFile::Record(absl::Status status, std::string_view doing,
                                  const std::string& path) {
  if (!status.ok() && status_.ok()) {
    status_ = Refusal("cannot " + std::string(doing) + " '" + path +
                      "': " + std::string(ErrorLine(status)));
  }
  return status_;
}

absl::Status SnapshotFile::Write(std::string_view bytes) {
  if (!status_.ok()) return status_;
  if (options_.with_checksum) checksum_ = Crc64(bytes, checksum_);
  absl::Status status = Record(file_->Write(bytes), "write", PathOf(options_.draft_name));
  size_ += bytes.size();
  if (!status.ok() || !options_.syncs_in_steps || size_ - synced_ < kSyncStep) return status;
  synced_ = size_;
  return Record(file_->SyncData(), "sync", PathOf(options_.draft_name));
}

absl::Status SnapshotFile::Finish() {
  std::string checksum;
  AppendLittleEndian(checksum_, sizeof checksum_, checksum);
  const std::string draft = PathOf(options_.draft_name);
  const std::string path = PathOf(options_.name);
  absl::Status status = Write(checksum);
  if (status.ok()) status = Record(file_->Sync(), "sync", draft);
  if (!status.ok()) return status;
  file_->DropFromCache();
  status = Record(files_.Rename(draft, path), "rename", draft);
  if (!status.ok()) return status;
  file_.reset();
  return Record(files_.SyncDirectory(options_.directory), "sync", options_.directory);
}

}  // namespace zsetd
