#include "server/persistence/log/log_directory.h"

#include <utility>

#include "server/engine/support/errors.h"
#include "server/persistence/file/drafts.h"

namespace zsetd {

absl::Status LogRefusal(const std::string& what, const std::string& path, const absl::Status& why) {
  return Refusal("Cannot " + what + " '" + path + "': " + std::string(ErrorLine(why)));
}

std::string LogDirectory::path() const {
  return DataPath() + "/" + engine_.settings().appenddirname;
}

std::string LogDirectory::ManifestName() const {
  return engine_.settings().appendfilename + ".manifest";
}

std::string LogDirectory::BaseName(uint64_t number) const {
  return engine_.settings().appendfilename + "." + std::to_string(number) + ".base.rdb";
}

std::string LogDirectory::IncrementalName(uint64_t number) const {
  return engine_.settings().appendfilename + "." + std::to_string(number) + ".incr.aof";
}

// The path of the log in one file, the layout of Redis before version 7.
std::string LogDirectory::OldPath() const {
  return DataPath() + "/" + engine_.settings().appendfilename;
}

absl::StatusOr<bool> LogDirectory::HasLog() const {
  const auto manifest = zsetd::ReadManifest(files_, PathOf(ManifestName()));
  if (manifest.ok()) return true;
  if (!absl::IsNotFound(manifest.status())) return manifest.status();
  const auto old_log = files_.Open(OldPath());
  if (old_log.ok()) return true;
  if (absl::IsNotFound(old_log.status())) return false;
  return LogRefusal("open", OldPath(), old_log.status());
}

absl::Status LogDirectory::Create() const {
  absl::Status status = files_.CreateDirectory(path());
  if (status.ok()) status = files_.SyncDirectory(DataPath());
  if (!status.ok()) return LogRefusal("create the directory", path(), status);
  RemoveDrafts(files_, path());
  return absl::OkStatus();
}

absl::Status LogDirectory::CreateIfMissing() const {
  return absl::IsNotFound(files_.List(path()).status()) ? Create() : absl::OkStatus();
}

absl::Status LogDirectory::ReadManifest() {
  absl::StatusOr<LogManifest> manifest = zsetd::ReadManifest(files_, PathOf(ManifestName()));
  if (!manifest.ok()) return manifest.status();
  manifest_ = *std::move(manifest);
  return absl::OkStatus();
}

// The manifest is written before the file is moved. After a crash in between, the manifest names a
// file that is still at the old path; this function moves it.
absl::Status LogDirectory::Open() {
  absl::Status status = ReadManifest();
  if (absl::IsNotFound(status)) status = NameOldLog();
  if (!status.ok()) return status;
  RemoveDrafts(files_, path());
  const std::string& name = engine_.settings().appendfilename;
  if (!manifest_.base || manifest_.base->name != name || files_.Open(PathOf(name)).ok()) {
    return absl::OkStatus();
  }
  status = files_.Rename(OldPath(), PathOf(name));
  if (status.ok()) status = files_.SyncDirectory(path());
  return status.ok() ? status : LogRefusal("move", OldPath(), status);
}

absl::Status LogDirectory::NameOldLog() {
  LogManifest manifest = {.base = LogFile{.name = engine_.settings().appendfilename, .number = 1}};
  if (absl::Status status = Create(); !status.ok()) return status;
  bool is_uncertain = false;
  const absl::Status status = WriteManifest(files_, path(), ManifestName(), manifest, is_uncertain);
  if (!status.ok()) return LogRefusal("write to", path(), status);
  manifest_ = std::move(manifest);
  return absl::OkStatus();
}

// The server may have been killed before the manifest was durable. A crash would then restore the
// old manifest, which needs the files.
void LogDirectory::RemoveHistory() {
  if (manifest_.history.empty() || !files_.SyncDirectory(path()).ok()) return;
  manifest_ = zsetd::RemoveHistory(files_, path(), ManifestName(), manifest_);
}

absl::StatusOr<std::unique_ptr<WritableFile>> LogDirectory::AddIncremental() {
  const uint64_t number = manifest_.LastNumber() + (manifest_.base ? 0 : 1);
  const LogFile file = {.name = IncrementalName(number), .number = number};
  auto created = files_.Create(PathOf(file.name));
  if (!created.ok()) return LogRefusal("create", PathOf(file.name), created.status());
  LogManifest next = manifest_;
  next.incremental.push_back(file);
  bool is_uncertain = false;
  const absl::Status status = WriteManifest(files_, path(), ManifestName(), next, is_uncertain);
  if (!status.ok()) return LogRefusal("write", PathOf(ManifestName()), status);
  manifest_ = std::move(next);
  return *std::move(created);
}

std::unique_ptr<SnapshotFile> LogDirectory::CreateBase(const std::string& name) {
  const Settings& settings = engine_.settings();
  return std::make_unique<SnapshotFile>(
      files_, SnapshotFile::Options{.with_checksum = settings.rdbchecksum,
                                    .syncs_in_steps = settings.aof_rewrite_incremental_fsync,
                                    .directory = path(),
                                    .name = name,
                                    .draft_name = DraftName(++drafts_, ".base")});
}

}  // namespace zsetd
