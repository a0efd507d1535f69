#include "server/persistence/snapshot_service.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/engine/support/errors.h"
#include "server/persistence/file/drafts.h"
#include "server/persistence/snapshot/snapshot_file.h"

namespace zsetd {
namespace {

constexpr std::chrono::seconds kBetweenRetries{5};  // after a failure, as in Redis

}  // namespace

SnapshotService::SnapshotService(Engine& engine, FileSystem& files, DataDirectory& directory,
                                 Dataset& dataset, const Log& log,
                                 std::function<void()> on_progress)
    : engine_(engine),
      files_(files),
      directory_(directory),
      dataset_(dataset),
      log_(log),
      on_progress_(std::move(on_progress)),
      last_saved_at_(engine.store().now()),
      saved_at_(engine.host().stopwatch()) {}

SnapshotService::~SnapshotService() { Abandon(); }

std::string SnapshotService::Path() const {
  return directory_.path() + "/" + engine_.settings().dbfilename;
}

absl::StatusOr<bool> SnapshotService::Load() {
  const Micros start = engine_.host().stopwatch();
  absl::StatusOr<LoadedSnapshot> loaded = dataset_.Read(Path(), /*keeps_expired=*/false);
  if (absl::IsNotFound(loaded.status())) return false;
  if (!loaded.ok()) return loaded.status();
  dataset_.Report(*loaded, engine_.host().stopwatch() - start);
  keys_loaded_ = loaded->keys_loaded;
  keys_expired_ = loaded->keys_expired;
  std::optional<HistoryPlace> position = std::move(loaded->position);
  const absl::Status status = dataset_.Put(*std::move(loaded), Path(), ReloadOptions());
  if (!status.ok()) return status;
  loaded_position_ = std::move(position);
  return true;
}

SnapshotStatus SnapshotService::status() const {
  SnapshotStatus status = {
      .saving = job_ != nullptr,
      .last_save_ok = last_save_ok_,
      .last_saved_at = last_saved_at_,
      .changes_since_last_save = engine_.store().change_count() - saved_changes_,
      .saves = saves_,
      .keys_loaded = keys_loaded_,
      .keys_expired = keys_expired_,
  };
  if (last_save_took_) status.last_save_took = std::chrono::duration_cast<Millis>(*last_save_took_);
  if (job_ != nullptr) {
    status.keys_saved = job_->keys_saved();
    status.keys_to_save = job_->keys();
    status.saving_for =
        std::chrono::duration_cast<Millis>(engine_.host().stopwatch() - job_->started_at());
  }
  return status;
}

std::string SnapshotService::NextDraftName() { return DraftName(++drafts_, ".rdb"); }

absl::StatusOr<std::unique_ptr<SnapshotFile>> SnapshotService::CreateFile(const std::string& name) {
  const absl::Status locked = directory_.Lock();
  if (!locked.ok()) return locked;
  const Settings& settings = engine_.settings();
  return std::make_unique<SnapshotFile>(
      files_, SnapshotFile::Options{.with_checksum = settings.rdbchecksum,
                                    .syncs_in_steps = settings.rdb_save_incremental_fsync,
                                    .directory = directory_.path(),
                                    .name = name,
                                    .draft_name = NextDraftName()});
}

absl::Status SnapshotService::FailToSave(absl::Status why) {
  log_.Write(LogLevel::kWarning, "Cannot save the snapshot: " + std::string(ErrorLine(why)));
  return why;
}

absl::Status SnapshotService::Save() {
  assert(job_ == nullptr);
  ++saves_;
  const Micros start = engine_.host().stopwatch();
  const uint64_t changes = engine_.store().change_count();
  auto file = CreateFile(engine_.settings().dbfilename);
  if (!file.ok()) return FailToSave(file.status());
  const absl::Status status = WriteSnapshot(engine_, dataset_.Contents(), **file);
  if (!status.ok()) return FailToSave(status);
  saved_changes_ = changes;
  saved_offset_ = engine_.replication().offset();
  last_saved_at_ = engine_.store().now();
  saved_at_ = engine_.host().stopwatch();
  last_save_ok_ = true;
  engine_.disk().set_snapshots_fail(false);
  const Micros took = engine_.host().stopwatch() - start;
  log_.Write(LogLevel::kNotice, "DB saved on disk: " + Megabytes((*file)->size()) + ", " +
                                    Rate((*file)->size(), took));
  return absl::OkStatus();
}

absl::Status SnapshotService::StartSaving() {
  assert(job_ == nullptr);
  last_try_at_ = engine_.host().stopwatch();
  ++saves_;
  auto file = CreateFile(engine_.settings().dbfilename);
  if (!file.ok()) {
    last_save_ok_ = false;
    engine_.disk().set_snapshots_fail(true);
    return FailToSave(file.status());
  }
  job_ = std::make_unique<BackgroundSnapshot>(*std::move(file), engine_, dataset_.Contents(),
                                              on_progress_);
  if (job_->done()) return Finish();
  reported_tenths_ = 0;
  log_.Write(LogLevel::kNotice,
             "Background saving started: " + std::to_string(job_->keys()) + " keys");
  return absl::OkStatus();
}

void SnapshotService::Continue() {
  if (job_ == nullptr) return;
  if (job_->HasWork()) {
    job_->Continue();
    ReportProgress();
  }
  if (job_->done()) (void)Finish();
}

void SnapshotService::ReportProgress() {
  const size_t total = std::max<size_t>(job_->keys(), 1);
  const auto tenths = static_cast<int>(job_->keys_saved() * 10 / total);
  if (tenths <= reported_tenths_ || job_->encoded()) return;
  reported_tenths_ = tenths;
  const Micros took = engine_.host().stopwatch() - job_->started_at();
  if (took < std::chrono::seconds(1)) return;
  log_.Write(LogLevel::kNotice, "Background saving: " + std::to_string(tenths * 10) +
                                    " % of keys, " + Rate(job_->written(), took));
}

absl::Status SnapshotService::Finish() {
  const std::unique_ptr<BackgroundSnapshot> job = std::exchange(job_, nullptr);
  absl::Status status = job->status();
  last_save_took_ = engine_.host().stopwatch() - job->started_at();
  last_save_ok_ = status.ok();
  engine_.disk().set_snapshots_fail(!status.ok());
  if (!status.ok()) return FailToSave(std::move(status));
  saved_changes_ = job->changes();
  last_saved_at_ = engine_.store().now();
  saved_at_ = engine_.host().stopwatch();
  const uint64_t bytes = job->written();
  log_.Write(LogLevel::kNotice, "Background saving terminated with success: " + Megabytes(bytes) +
                                    ", " + Rate(bytes, *last_save_took_));
  return status;
}

void SnapshotService::Abandon() {
  if (job_ == nullptr) return;
  job_.reset();
  log_.Write(LogLevel::kWarning, "Background saving canceled");
}

void SnapshotService::ConsiderSavePoints() {
  const SavePoints& save = engine_.settings().save;
  if (!save.Any()) return;
  const uint64_t changes = engine_.store().change_count() - saved_changes_;
  const Micros now = engine_.host().stopwatch();
  const Micros age = now - saved_at_;
  if (!last_save_ok_ && now - last_try_at_ <= kBetweenRetries) return;
  for (const SavePoints::Point& point : save.points) {
    if (changes < static_cast<uint64_t>(point.changes) || age <= point.age) continue;
    log_.Write(LogLevel::kNotice, IntegerText(point.changes) + " changes in " +
                                      IntegerText(point.age.count()) + " seconds. Saving...");
    (void)StartSaving();
    return;
  }
}

absl::Status SnapshotService::SaveBeforeExit(bool must_save, bool may_not) {
  saved_for_exit_ = false;
  Abandon();
  if (may_not || (!must_save && !engine_.settings().save.Any())) return absl::OkStatus();
  log_.Write(LogLevel::kNotice, "Saving the final RDB snapshot before exiting.");
  absl::Status status = Save();
  saved_for_exit_ = status.ok();
  return status;
}

void SnapshotService::SaveTheRest() {
  if (!saved_for_exit_) return;
  const bool is_saved = engine_.store().change_count() == saved_changes_ &&
                        engine_.replication().offset() == saved_offset_;
  if (is_saved) return;
  if (!engine_.mode().IsBetweenUnits()) {
    log_.Write(
        LogLevel::kWarning,
        "Cannot save a final snapshot while a script runs. Changes since the last snapshot are "
        "lost.");
    return;
  }
  Abandon();
  (void)Save();
}

absl::Status SnapshotService::LoadAgain(const ReloadOptions& reload) {
  if (reload.saves) {
    Abandon();  // the new snapshot is of a later instant
    const absl::Status saved = Save();
    if (!saved.ok()) return saved;
  }
  const absl::Status status = LoadAgainFrom(Path(), reload);
  if (!status.ok()) return status;
  if (reload.saves && reload.flushes) saved_changes_ = engine_.store().change_count();
  return status;
}

absl::Status SnapshotService::LoadAgainByDraft(const ReloadOptions& reload) {
  Abandon();
  const std::string name = NextDraftName();
  auto file = CreateFile(name);
  if (!file.ok()) return FailToSave(file.status());
  const absl::Status saved = WriteSnapshot(engine_, dataset_.Contents(), **file);
  if (!saved.ok()) return FailToSave(saved);
  const std::string path = directory_.path() + "/" + name;
  absl::Status status = LoadAgainFrom(path, reload);
  (void)files_.Remove(path);
  return status;
}

absl::Status SnapshotService::LoadAgainFrom(const std::string& path, const ReloadOptions& reload) {
  const Micros start = engine_.host().stopwatch();
  absl::StatusOr<LoadedSnapshot> loaded = dataset_.Read(path, /*keeps_expired=*/false);
  absl::Status status = loaded.status();
  if (absl::IsNotFound(status)) {
    status = Refusal("Cannot open '" + path + "': the file does not exist");
  }
  if (status.ok()) {
    dataset_.Report(*loaded, engine_.host().stopwatch() - start);
    keys_loaded_ = loaded->keys_loaded;
    keys_expired_ = loaded->keys_expired;
    status = dataset_.Put(*std::move(loaded), path, reload);
  }
  if (!status.ok()) log_.Write(LogLevel::kWarning, ErrorLine(status));
  return status;
}

}  // namespace zsetd
