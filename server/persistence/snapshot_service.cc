#include "server/persistence/snapshot_service.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <filesystem>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/engine/scripting.h"
#include "server/engine/store/value_limits.h"
#include "server/engine/support/errors.h"
#include "server/persistence/snapshot_file.h"

namespace zsetd {
namespace {

constexpr size_t kPieceBytes = 1u << 20;            // handed to the thread at a time
constexpr size_t kMostWaitingBytes = 32u << 20;     // for the disk; then encoding waits for it
constexpr Micros kLongestSlice{500};                // for which requests wait
constexpr std::chrono::seconds kBetweenRetries{5};  // after a failure, as Redis
constexpr Micros kBetweenReports{2'000'000};        // of the progress of a load

// Redis announces no event for keys that it loads.
constexpr std::string_view kNoEvent = "";

std::string Megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

// The rate in MB a second.
std::string Rate(uint64_t bytes, Micros took) {
  const auto micros = static_cast<uint64_t>(std::max<int64_t>(took.count(), 1));
  return std::to_string(bytes / micros) + " MB/s";
}

}  // namespace

SnapshotService::SnapshotService(Engine& engine, FileSystem& files, Log log)
    : engine_(engine), files_(files), log_(std::move(log)), last_saved_at_(engine.now()) {}

SnapshotService::~SnapshotService() { Abandon(); }

std::string SnapshotService::Directory() const {
  const std::string& directory = engine_.settings().dir;
  if (directory.starts_with('/')) return directory;
  std::error_code error;  // of a directory that was removed: then opening files in it fails
  return std::filesystem::current_path(error);
}

std::string SnapshotService::Path() const {
  return Directory() + "/" + engine_.settings().dbfilename;
}

absl::Status SnapshotService::LockDirectory() {
  const std::string directory = Directory();
  if (directory == locked_) return absl::OkStatus();
  auto lock = files_.Lock(directory);
  if (absl::IsUnimplemented(lock.status())) {
    log_.warning("The file system of '" + directory +
                 "' has no locks: see to it that no other server uses this directory");
  } else if (!lock.ok()) {
    return Refusal("cannot open the directory '" + directory +
                   "': " + std::string(ErrorLine(lock.status())));
  } else if (*lock == nullptr) {
    return Refusal("another server keeps its data in the directory '" + directory +
                   "': give one of them another `dir`");
  } else {
    lock_ = *std::move(lock);
  }
  locked_ = directory;
  RemoveDrafts(files_, directory);
  return absl::OkStatus();
}

absl::Status SnapshotService::Start() {
  if (engine_.settings().save.Any()) {
    const absl::Status locked = LockDirectory();
    if (!locked.ok()) return locked;
  }
  const Micros start = engine_.host().stopwatch();
  absl::StatusOr<LoadedSnapshot> loaded = Load();
  if (absl::IsNotFound(loaded.status())) return absl::OkStatus();
  absl::Status status = loaded.status();
  if (status.ok()) status = RestoreFunctions(*loaded, Reload());
  if (!status.ok()) {
    return Refusal(std::string(ErrorLine(status)) +
                   "\nNothing was changed on disk. Put a good copy in its place, look at it with "
                   "redis-check-rdb, or move it away to start without data.");
  }
  ReportLoaded(*loaded, engine_.host().stopwatch() - start);
  Adopt(*std::move(loaded), Reload());
  return absl::OkStatus();
}

SnapshotStatus SnapshotService::status() const {
  SnapshotStatus status = {
      .saving = job_ != nullptr,
      .last_save_ok = last_save_ok_,
      .last_save_took = last_save_took_,
      .last_saved_at = last_saved_at_,
      .changes_since_last_save = engine_.change_count() - saved_changes_,
      .saves = saves_,
      .keys_loaded = keys_loaded_,
      .keys_expired = keys_expired_,
  };
  if (job_ != nullptr) {
    status.keys_saved = job_->encoder.keys();
    status.keys_to_save = job_->snapshot.keys();
    status.saving_for = engine_.now() - job_->started_at;
  }
  return status;
}

absl::StatusOr<std::unique_ptr<SnapshotFile>> SnapshotService::CreateFile() {
  const absl::Status locked = LockDirectory();
  if (!locked.ok()) return locked;
  const Settings& settings = engine_.settings();
  return std::make_unique<SnapshotFile>(
      files_,
      SnapshotFile::Options{.with_checksum = settings.rdbchecksum,
                            .syncs_in_steps = settings.rdb_save_incremental_fsync,
                            .directory = locked_,
                            .name = settings.dbfilename,
                            .draft_name = std::string(kDraftPrefix) + std::to_string(::getpid()) +
                                          "-" + std::to_string(++drafts_) + ".rdb"});
}

absl::Status SnapshotService::FailToSave(absl::Status why) {
  log_.warning("The snapshot could not be saved: " + std::string(ErrorLine(why)));
  return why;
}

absl::Status SnapshotService::WriteAll(SnapshotFile& file) {
  SnapshotEncoder encoder(engine_.settings(), engine_.access_tracker());
  Snapshot snapshot(engine_.databases(), encoder);
  encoder.Begin(engine_.now(), engine_.gauge().Used(), Functions(), snapshot);
  absl::Status status = absl::OkStatus();
  bool all = false;
  while (status.ok() && !all) {
    all = snapshot.Continue([&] { return encoder.size() >= kPieceBytes; });
    if (all) encoder.End();
    status = file.Write(encoder.Take());
  }
  return status.ok() ? file.Finish() : status;
}

absl::Status SnapshotService::Save() {
  assert(job_ == nullptr);
  ++saves_;
  const Micros start = engine_.host().stopwatch();
  const uint64_t changes = engine_.change_count();
  auto file = CreateFile();
  if (!file.ok()) return FailToSave(file.status());
  const absl::Status status = WriteAll(**file);
  if (!status.ok()) return FailToSave(status);
  saved_changes_ = changes;
  last_saved_at_ = engine_.now();
  last_save_ok_ = true;
  engine_.set_snapshots_fail(false);
  const Micros took = engine_.host().stopwatch() - start;
  log_.notice("DB saved on disk: " + Megabytes((*file)->size()) + ", " +
              Rate((*file)->size(), took));
  return absl::OkStatus();
}

absl::Status SnapshotService::StartSaving() {
  scheduled_ = false;
  last_try_at_ = engine_.now();
  ++saves_;
  auto file = CreateFile();
  if (!file.ok()) {
    last_save_ok_ = false;
    engine_.set_snapshots_fail(true);
    return FailToSave(file.status());
  }
  job_ = std::make_unique<Job>(*std::move(file), engine_.settings(), engine_);
  job_->started_at = engine_.now();
  job_->changes = engine_.change_count();
  job_->encoder.Begin(engine_.now(), engine_.gauge().Used(), Functions(), job_->snapshot);
  log_.notice("Background saving started: " + std::to_string(job_->snapshot.keys()) + " keys");
  return absl::OkStatus();
}

bool SnapshotService::HasWork() const {
  return job_ != nullptr && !job_->encoded && job_->thread.waiting() < kMostWaitingBytes;
}

void SnapshotService::Tick() {
  if (job_ != nullptr && HasWork()) Continue();
  if (job_ != nullptr && job_->thread.done()) Finish();
  if (job_ != nullptr) return;
  if (scheduled_) (void)StartSaving();
  if (job_ == nullptr) ConsiderSavePoints();
}

void SnapshotService::Continue() {
  const Micros until = engine_.host().stopwatch() + kLongestSlice;
  SnapshotEncoder& encoder = job_->encoder;
  job_->encoded = job_->snapshot.Continue(
      [&] { return encoder.size() >= kPieceBytes || engine_.host().stopwatch() >= until; });
  if (job_->encoded) encoder.End();
  if (job_->encoded || encoder.size() >= kPieceBytes) job_->thread.Write(encoder.Take());
  if (job_->encoded) job_->thread.Finish();
  ReportProgress();
}

void SnapshotService::ReportProgress() {
  const size_t total = std::max<size_t>(job_->snapshot.keys(), 1);
  const auto tenths = static_cast<int>(job_->encoder.keys() * 10 / total);
  if (tenths <= job_->reported_tenths || job_->encoded) return;
  job_->reported_tenths = tenths;
  const auto took = std::chrono::duration_cast<Micros>(engine_.now() - job_->started_at);
  if (took < std::chrono::seconds(1)) return;
  log_.notice("Background saving: " + std::to_string(tenths * 10) + " % of keys, " +
              Rate(job_->thread.written(), took));
}

void SnapshotService::Finish() {
  const std::unique_ptr<Job> job = std::exchange(job_, nullptr);
  const absl::Status status = job->thread.status();
  last_save_took_ = engine_.now() - job->started_at;
  last_save_ok_ = status.ok();
  engine_.set_snapshots_fail(!status.ok());
  if (!status.ok()) {
    (void)FailToSave(status);
    return;
  }
  saved_changes_ = job->changes;
  last_saved_at_ = engine_.now();
  const uint64_t bytes = job->thread.written();
  log_.notice("Background saving terminated with success: " + Megabytes(bytes) + ", " +
              Rate(bytes, std::chrono::duration_cast<Micros>(*last_save_took_)));
}

void SnapshotService::Abandon() {
  if (job_ == nullptr) return;
  job_.reset();
  log_.warning("Background saving abandoned");
}

void SnapshotService::ConsiderSavePoints() {
  const SavePoints& save = engine_.settings().save;
  if (!save.Any()) return;
  const uint64_t changes = engine_.change_count() - saved_changes_;
  const Millis age = engine_.now() - last_saved_at_;
  if (!last_save_ok_ && engine_.now() - last_try_at_ <= kBetweenRetries) return;
  for (const SavePoints::Point& point : save.points) {
    if (changes < static_cast<uint64_t>(point.changes) || age <= point.age) continue;
    log_.notice(IntegerText(point.changes) + " changes in " + IntegerText(point.age.count()) +
                " seconds. Saving...");
    (void)StartSaving();
    return;
  }
}

absl::Status SnapshotService::SaveBeforeExit(bool must_save, bool may_not) {
  saved_for_exit_ = false;
  Abandon();
  if (may_not || (!must_save && !engine_.settings().save.Any())) return absl::OkStatus();
  log_.notice("Saving the final RDB snapshot before exiting.");
  absl::Status status = Save();
  saved_for_exit_ = status.ok();
  return status;
}

void SnapshotService::SaveTheRest() {
  if (!saved_for_exit_ || engine_.change_count() == saved_changes_) return;
  if (engine_.IsSuspended()) {
    log_.warning("A script has not ended: what was written since the last snapshot is lost");
    return;
  }
  Abandon();
  (void)Save();
}

void SnapshotService::OnFlushAll() {
  Abandon();
  if (engine_.settings().save.Any()) (void)Save();
}

absl::StatusOr<LoadedSnapshot> SnapshotService::Load() {
  const Settings& settings = engine_.settings();
  const Micros start = engine_.host().stopwatch();
  Micros reported_at = start;
  LoadOptions options = {
      .now = engine_.now(),
      .databases = engine_.database_count(),
      .limits = ValueLimitsOf(settings),
      .checks_checksum = settings.rdbchecksum,
      .skips_unknown = settings.rdb_skip_unknown,
      .access_tracker = &engine_.access_tracker(),
      .make_keyspace = [this] { return engine_.database(0).MakeKeyspace(); },
      .progress =
          [&](uint64_t bytes, uint64_t total, uint64_t keys) {
            const Micros now = engine_.host().stopwatch();
            if (now - reported_at < kBetweenReports) return;
            reported_at = now;
            log_.notice("Loading: " + std::to_string(bytes * 100 / std::max<uint64_t>(total, 1)) +
                        " % (" + std::to_string(keys) + " keys), " + Rate(bytes, now - start));
          },
  };
  return LoadSnapshot(files_, Path(), options);
}

void SnapshotService::ReportLoaded(const LoadedSnapshot& loaded, Micros took) {
  log_.notice("DB loaded from disk: " + std::to_string(loaded.keys_loaded) + " keys, " +
              std::to_string(loaded.keys_expired) + " expired, " + Megabytes(loaded.bytes) + ", " +
              Rate(loaded.bytes, took));
  if (loaded.keys_skipped > 0) {
    log_.warning("The snapshot holds " + std::to_string(loaded.keys_skipped) +
                 " keys of types that this server cannot keep. They were left out "
                 "(rdb-skip-unknown), and are lost with the next snapshot");
  }
  if (loaded.hashes_with_field_deadlines > 0) {
    log_.warning("The snapshot holds " + std::to_string(loaded.hashes_with_field_deadlines) +
                 " hashes whose fields have a time to live. The fields were loaded, and stay");
  }
  if (!loaded.functions.empty() && engine_.scripting() == nullptr) {
    log_.warning(
        "The snapshot holds libraries of functions. They are kept in the next snapshots, and "
        "cannot be called (scripting no)");
  }
}

absl::Status SnapshotService::FindDuplicates(const LoadedSnapshot& loaded) const {
  absl::Status status = absl::OkStatus();
  for (const auto& [index, keys] : loaded.databases) {
    keys.ForEach([&](const Entry& entry) {
      if (engine_.database(index).Find(entry.key()) == nullptr) return;
      status = Refusal("the key '" + std::string(entry.key()) + "' is in memory and in the file");
    });
  }
  return status;
}

// Of this instant, whether they can be called here or not.
std::string SnapshotService::Functions() const {
  const Scripting* const scripting = engine_.scripting();
  return scripting != nullptr ? scripting->DumpLibraries() : kept_functions_;
}

// All or nothing.
absl::Status SnapshotService::RestoreFunctions(const LoadedSnapshot& loaded, const Reload& reload) {
  Scripting* const scripting = engine_.scripting();
  if (scripting == nullptr) {
    if (reload.flushes) kept_functions_.clear();
    kept_functions_ += loaded.functions;
    return absl::OkStatus();
  }
  if (loaded.functions.empty()) {
    if (reload.flushes) scripting->FlushLibraries();
    return absl::OkStatus();
  }
  const absl::Status status =
      scripting->RestoreLibraries(loaded.functions, reload.flushes    ? RestorePolicy::kFlush
                                                    : reload.replaces ? RestorePolicy::kReplace
                                                                      : RestorePolicy::kAppend);
  if (status.ok()) return status;
  return Refusal("Cannot load '" + Path() +
                 "': its libraries of functions: " + std::string(ErrorLine(status)));
}

absl::Status SnapshotService::LoadAgain(const Reload& reload) {
  if (reload.saves) {
    Abandon();  // this one shows a later instant
    const absl::Status saved = Save();
    if (!saved.ok()) return saved;
  }
  const Micros start = engine_.host().stopwatch();
  absl::StatusOr<LoadedSnapshot> loaded = Load();
  absl::Status status = loaded.status();
  if (absl::IsNotFound(status))
    status = Refusal("Cannot open '" + Path() + "': there is no such file");
  if (status.ok() && !reload.flushes && !reload.replaces) status = FindDuplicates(*loaded);
  if (status.ok()) status = RestoreFunctions(*loaded, reload);
  if (!status.ok()) {
    log_.warning(ErrorLine(status));
    return status;
  }
  ReportLoaded(*loaded, engine_.host().stopwatch() - start);
  Adopt(*std::move(loaded), reload);
  if (reload.saves && reload.flushes) saved_changes_ = engine_.change_count();
  return absl::OkStatus();
}

void SnapshotService::Adopt(LoadedSnapshot loaded, const Reload& reload) {
  keys_loaded_ = loaded.keys_loaded;
  keys_expired_ = loaded.keys_expired;
  if (reload.flushes) engine_.ClearAll();
  for (auto& [index, keys] : loaded.databases) {
    Database& database = engine_.database(index);
    if (database.keys().size() == 0) {
      database.Adopt(std::move(keys));
      continue;
    }
    std::vector<std::string> names;
    keys.ForEach([&](const Entry& entry) { names.emplace_back(entry.key()); });
    for (const std::string& name : names) {
      database.Put(keys.Extract(*keys.FindEvenDue(name)), kNoEvent);
    }
  }
}

}  // namespace zsetd
