#include "server/persistence/snapshot/snapshot_file.h"

#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

// The number of bytes between two syncs. Periodic syncs keep the last sync short, and a sync of
// another file waits for at most this many bytes.
constexpr uint64_t kSyncStep = 32u << 20;

}  // namespace

SnapshotFile::SnapshotFile(FileSystem& files, Options options)
    : SnapshotSink(options.with_checksum), files_(files), options_(std::move(options)) {
  const std::string path = PathOf(options_.draft_name);
  auto created = files_.Create(path);
  if (created.ok()) {
    file_ = *std::move(created);
  } else {
    create_error_ = Explain(created.status(), "create", path);
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

absl::Status SnapshotFile::Explain(const absl::Status& status, std::string_view doing,
                                   const std::string& path) {
  if (status.ok()) return status;
  return Refusal("cannot " + std::string(doing) + " '" + path +
                 "': " + std::string(ErrorLine(status)));
}

absl::Status SnapshotFile::Put(std::string_view bytes) {
  if (!create_error_.ok()) return create_error_;
  const std::string draft = PathOf(options_.draft_name);
  absl::Status status = Explain(file_->Write(bytes), "write", draft);
  unsynced_ += bytes.size();
  if (!status.ok() || !options_.syncs_in_steps || unsynced_ < kSyncStep) return status;
  unsynced_ = 0;
  return Explain(file_->SyncData(), "sync", draft);
}

absl::Status SnapshotFile::Complete() {
  const std::string draft = PathOf(options_.draft_name);
  absl::Status status = Explain(file_->Sync(), "sync", draft);
  if (!status.ok()) return status;
  file_->DropFromCache();
  status = Explain(files_.Rename(draft, PathOf(options_.name)), "rename", draft);
  if (!status.ok()) return status;
  file_.reset();
  return Explain(files_.SyncDirectory(options_.directory), "sync", options_.directory);
}

}  // namespace zsetd
