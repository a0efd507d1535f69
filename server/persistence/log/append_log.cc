#include "server/persistence/log/append_log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <span>
#include <utility>

#include "server/engine/applier.h"
#include "server/engine/support/errors.h"
#include "server/persistence/file/drafts.h"
#include "server/persistence/log/log_loader.h"
#include "server/persistence/snapshot/snapshot_file.h"

namespace zsetd {
namespace {

constexpr Millis kMostUnsynced{2000};             // with everysec; then the disk is behind
constexpr uint64_t kMostUnwritten = 64u << 20;    // bytes
constexpr std::chrono::seconds kFirstPause{5};    // between tries to begin a log; each is twice
constexpr std::chrono::seconds kLongestWait{60};  // as long as the last, as writes are refused
constexpr uint64_t kFreeFailures = 3;             // of rewrites, before there is a pause
constexpr std::chrono::minutes kLongestPause{60};
constexpr Micros kBetweenReports{2'000'000};

// Whether the file begins with a snapshot.
absl::StatusOr<bool> IsSnapshot(FileSystem& files, const std::string& path) {
  auto file = files.Open(path);
  if (!file.ok()) return file.status();
  std::array<char, 6> magic{};
  const absl::StatusOr<size_t> count = (*file)->Read(magic);
  if (!count.ok()) return count.status();
  const std::string_view first(magic.data(), *count);
  return first.starts_with("REDIS") || first == "VALKEY";
}

absl::Status Refuse(const std::string& what, const std::string& path, const absl::Status& why) {
  return Refusal("Cannot " + what + " '" + path + "': " + std::string(ErrorLine(why)));
}

}  // namespace

// A rewrite under way.
struct AppendLog::Rewrite {
  std::unique_ptr<BackgroundSnapshot> snapshot;  // null: it is complete, or abandoned
  uint64_t base_bytes = 0;                       // once it is complete
  bool is_abandoned = false;
  LogManifest next;             // when it is complete
  LogManifest meanwhile;        // while the base is written
  uint64_t old_bytes = 0;       // of the file that ended with it
  bool keeps_old_files = true;  // the log is valid without the new base
  bool has_file = false;        // the new incremental file is in use
  bool is_finishing = false;    // the last step is under way
  Millis started_at{0};
};

struct AppendLog::Loading {
  explicit Loading(Engine& engine)
      : applier(engine), start(engine.host().stopwatch()), reported_at(start) {}

  Applier applier;
  const Micros start;
  Micros reported_at;
  uint64_t commands = 0;
  uint64_t applied = 0;     // of commands, so far
  uint64_t last_bytes = 0;  // whole ones, of the last file
};

AppendLog::AppendLog(Engine& engine, FileSystem& files, DataDirectory& directory, Dataset& dataset,
                     const PersistenceLog& log, std::function<void()> on_progress)
    : engine_(engine),
      files_(files),
      directory_(directory),
      dataset_(dataset),
      log_(log),
      on_progress_(std::move(on_progress)) {}

AppendLog::~AppendLog() { Disable(); }

std::string AppendLog::Directory() const {
  return directory_.path() + "/" + engine_.settings().appenddirname;
}

std::string AppendLog::PathOf(const std::string& name) const { return Directory() + "/" + name; }

std::string AppendLog::ManifestName() const {
  return engine_.settings().appendfilename + ".manifest";
}

std::string AppendLog::BaseName(uint64_t number) const {
  return engine_.settings().appendfilename + "." + std::to_string(number) + ".base.rdb";
}

std::string AppendLog::IncrementalName(uint64_t number) const {
  return engine_.settings().appendfilename + "." + std::to_string(number) + ".incr.aof";
}

SyncPolicy AppendLog::Policy() const {
  const Settings& settings = engine_.settings();
  if (settings.appendfsync == AppendFsync::kAlways) return SyncPolicy::kAlways;
  const bool yields = settings.no_appendfsync_on_rewrite && IsRewriting();
  return settings.appendfsync == AppendFsync::kNo || yields ? SyncPolicy::kNever
                                                            : SyncPolicy::kEverySecond;
}

// ---- At the start. ----

absl::StatusOr<bool> AppendLog::Exists() const {
  const auto manifest = ReadManifest(files_, PathOf(ManifestName()));
  if (manifest.ok()) return true;
  if (!absl::IsNotFound(manifest.status())) return manifest.status();
  const std::string old_path = directory_.path() + "/" + engine_.settings().appendfilename;
  const auto old_log = files_.Open(old_path);
  if (old_log.ok()) return true;
  return absl::IsNotFound(old_log.status())
             ? absl::StatusOr<bool>(false)
             : absl::StatusOr<bool>(Refuse("open", old_path, old_log.status()));
}

absl::Status AppendLog::MakeDirectory() const {
  absl::Status status = files_.CreateDirectory(Directory());
  if (status.ok()) status = files_.SyncDirectory(directory_.path());
  return status.ok() ? status : Refuse("create the directory", Directory(), status);
}

// One file, as Redis had it before version 7, becomes the base. The manifest comes first: a crash
// in between leaves one that names a file that is still in the old place.
absl::Status AppendLog::AdoptOldLog() {
  const std::string& name = engine_.settings().appendfilename;
  absl::StatusOr<LogManifest> manifest = ReadManifest(files_, PathOf(ManifestName()));
  bool is_uncertain = false;
  if (absl::IsNotFound(manifest.status())) {
    manifest = LogManifest{.base = LogFile{.name = name, .number = 1}};
    if (absl::Status status = MakeDirectory(); !status.ok()) return status;
    const absl::Status status =
        WriteManifest(files_, Directory(), ManifestName(), *manifest, is_uncertain);
    if (!status.ok()) return Refuse("write to", Directory(), status);
  }
  if (!manifest.ok()) return manifest.status();
  manifest_ = *std::move(manifest);
  if (!manifest_.base || manifest_.base->name != name || files_.Open(PathOf(name)).ok()) {
    return absl::OkStatus();
  }
  const std::string old_path = directory_.path() + "/" + name;
  absl::Status status = files_.Rename(old_path, PathOf(name));
  if (status.ok()) status = files_.SyncDirectory(Directory());
  return status.ok() ? status : Refuse("move", old_path, status);
}

absl::Status AppendLog::Load() {
  if (absl::Status status = AdoptOldLog(); !status.ok()) return status;
  RemoveDrafts(files_, Directory());
  Loading loading(engine_);
  absl::Status status = LoadFiles(loading);
  if (!status.ok()) return status;
  const auto& files = manifest_.incremental;
  status = files.empty() ? CreateFirstFile() : ContinueFile(files.back(), loading.last_bytes);
  bytes_after_rewrite_ = base_bytes_;
  return status;
}

absl::Status AppendLog::LoadFiles(Loading& loading) {
  base_bytes_ = old_bytes_ = 0;
  absl::Status status = absl::OkStatus();
  const auto& files = manifest_.incremental;
  if (dataset_.turns() != nullptr) AnnounceFiles();
  if (manifest_.base) status = LoadBase(*manifest_.base, files.empty(), loading);
  for (size_t i = 0; status.ok() && i < files.size(); ++i) {
    status = LoadCommands(files[i], 0, i + 1 == files.size(), loading);
    if (i + 1 < files.size()) old_bytes_ += loading.last_bytes;
  }
  if (!status.ok()) return status;
  log_.notice("DB loaded from append only file: " + std::to_string(loading.commands) +
              " commands, " + Megabytes(base_bytes_ + old_bytes_ + loading.last_bytes) + ", " +
              Rate(base_bytes_ + old_bytes_ + loading.last_bytes,
                   engine_.host().stopwatch() - loading.start));
  return absl::OkStatus();
}

void AppendLog::AnnounceFiles() const {
  const auto announce = [this](const LogFile& file) {
    const auto opened = files_.Open(PathOf(file.name));
    if (opened.ok()) dataset_.turns()->Announce((*opened)->size());
  };
  if (manifest_.base) announce(*manifest_.base);
  for (const LogFile& file : manifest_.incremental) announce(file);
}

absl::Status AppendLog::LoadAgain() {
  assert(IsOn());
  if (!Flush()) return Refusal("the append only file could not be written to its end");
  Continue();  // a step may have brought other files
  if (IsRewriting() || MustBegin()) return Refusal("the append only file is being rewritten");
  engine_.store().ClearAll();
  Loading loading(engine_);
  return LoadFiles(loading);
}

absl::Status AppendLog::LoadBase(const LogFile& file, bool is_last, Loading& loading) {
  const std::string path = PathOf(file.name);
  const absl::StatusOr<bool> is_snapshot = IsSnapshot(files_, path);
  if (!is_snapshot.ok()) return Refuse("open", path, is_snapshot.status());
  uint64_t offset = 0;
  if (*is_snapshot) {
    absl::StatusOr<LoadedSnapshot> loaded = dataset_.Read(path, /*keeps_expired=*/true);
    if (!loaded.ok()) return loaded.status();
    dataset_.Report(*loaded, engine_.host().stopwatch() - loading.start);
    offset = loaded->bytes;
    const absl::Status status = dataset_.Put(*std::move(loaded), path, Persistence::Reload());
    if (!status.ok()) return status;
  }
  const absl::Status status = LoadCommands(file, offset, is_last, loading);
  base_bytes_ = std::exchange(loading.last_bytes, 0);
  return status;
}

absl::Status AppendLog::LoadCommands(const LogFile& file, uint64_t offset, bool is_last,
                                     Loading& loading) {
  const std::string path = PathOf(file.name);
  LoadTurns* const turns = dataset_.turns();
  const LogLoadOptions options = {
      .apply = [&loading, turns](Args argv) -> absl::Status {
        constexpr uint64_t kPerLook = 16;
        if (turns != nullptr && ++loading.applied % kPerLook == 0 && !turns->GoOn()) {
          return absl::CancelledError("the load was given up");
        }
        return loading.applier.Apply(argv);
      },
      .discard = [&loading] { loading.applier.Restart(); },
      .progress =
          [&](uint64_t bytes, uint64_t total) {
            if (turns != nullptr) turns->set_file_bytes(bytes);
            const Micros now = engine_.host().stopwatch();
            if (now - loading.reported_at < kBetweenReports) return;
            loading.reported_at = now;
            log_.notice("Loading " + file.name + ": " +
                        std::to_string(bytes * 100 / std::max<uint64_t>(total, 1)) + " %, " +
                        Rate(bytes, now - loading.start));
          },
      .most_damaged_bytes =
          is_last ? static_cast<uint64_t>(engine_.settings().aof_load_corrupt_tail_max_size) : 0,
  };
  loading.applier.Begin();
  loading.applier.Restart();
  const absl::StatusOr<LoadedLog> loaded = LoadLog(files_, path, offset, options);
  loading.applier.End();
  if (turns != nullptr && turns->abandoned()) return absl::CancelledError();
  if (!loaded.ok()) return loaded.status();
  if (turns != nullptr) turns->EndFile(loaded->bytes);
  loading.commands += loaded->commands;
  loading.last_bytes = loaded->whole_bytes;
  if (!loaded->IsTruncated()) return absl::OkStatus();
  const std::string where = "at byte " + std::to_string(loaded->whole_bytes) + " of " +
                            std::to_string(loaded->bytes) + " of '" + path + "'";
  if (!is_last || !engine_.settings().aof_load_truncated) {
    return Refusal("The append-only log is cut off " + where +
                   (is_last ? ". With aof-load-truncated yes, what follows is removed"
                            : ", and another file follows"));
  }
  log_.warning("The append-only log is cut off " + where +
               ": what follows is no whole unit, and is removed (aof-load-truncated)");
  auto opened = files_.Append(path);
  absl::Status status = opened.status();
  if (status.ok()) status = (*opened)->Truncate(loaded->whole_bytes);
  if (status.ok()) status = (*opened)->Sync();
  return status.ok() ? status : Refuse("cut", path, status);
}

absl::Status AppendLog::ContinueFile(const LogFile& file, uint64_t bytes) {
  auto opened = files_.Append(PathOf(file.name));
  if (!opened.ok()) return Refuse("write to", PathOf(file.name), opened.status());
  StartThread(*std::move(opened), bytes);
  return absl::OkStatus();
}

absl::Status AppendLog::CreateFirstFile() {
  const uint64_t number = manifest_.LastNumber() + (manifest_.base ? 0 : 1);
  const LogFile file = {.name = IncrementalName(number), .number = number};
  auto created = files_.Create(PathOf(file.name));
  if (!created.ok()) return Refuse("create", PathOf(file.name), created.status());
  LogManifest next = manifest_;
  next.incremental.push_back(file);
  bool is_uncertain = false;
  const absl::Status status =
      WriteManifest(files_, Directory(), ManifestName(), next, is_uncertain);
  if (!status.ok()) return Refuse("write", PathOf(ManifestName()), status);
  manifest_ = std::move(next);
  StartThread(*std::move(created), 0);
  return absl::OkStatus();
}

absl::Status AppendLog::Create() {
  if (absl::Status status = MakeDirectory(); !status.ok()) return status;
  RemoveDrafts(files_, Directory());
  const LogFile base = {.name = BaseName(1), .number = 1};
  auto file = CreateBase(base.name);
  if (!file.ok()) return file.status();
  const absl::Status status = WriteSnapshot(engine_, dataset_.ContentsOfBase(), **file);
  if (!status.ok()) return status;
  manifest_ = {.base = base};
  base_bytes_ = bytes_after_rewrite_ = (*file)->size();
  return CreateFirstFile();
}

void AppendLog::StartThread(std::unique_ptr<WritableFile> file, uint64_t bytes) {
  thread_start_ = end_;
  thread_ = std::make_unique<LogThread>(files_,
                                        LogThread::Options{.directory = Directory(),
                                                           .manifest_name = ManifestName(),
                                                           .policy = policy_ = Policy(),
                                                           .on_progress = on_progress_},
                                        std::move(file), bytes);
  ApplySettings();
}

// ---- While it is on. ----

uint64_t AppendLog::Append(OutputBuffer& unit) {
  assert(IsOn());
  if (engine_.settings().aof_timestamp_enabled) {
    const int64_t now = engine_.store().now().count() / 1000;
    if (std::exchange(stamped_at_, now) != now) {
      const std::string stamp = "#TS:" + std::to_string(now) + "\r\n";
      pending_.Append(stamp);
      end_ += stamp.size();
    }
  }
  end_ += unit.size();
  pending_.Take(unit);
  return end_;
}

void AppendLog::HandOver() {
  if (pending_.empty() || !IsOn()) return;
  thread_->Append(std::exchange(pending_, {}));
}

uint64_t AppendLog::durable() const {
  return IsOn() ? thread_start_ + thread_->progress().durable : end_;
}

bool AppendLog::Flush() {
  HandOver();
  return !IsOn() || thread_->Flush();
}

void AppendLog::ApplySettings() {
  if (!IsOn()) return;
  if (const SyncPolicy policy = Policy(); policy != policy_) {
    policy_ = policy;
    thread_->set_policy(policy);
  }
  const bool is_beginning = !is_repairing_ && rewrite_ != nullptr && !rewrite_->keeps_old_files;
  holds_replies_ = !is_beginning && (is_behind_ || Policy() == SyncPolicy::kAlways);
}

LogStatus AppendLog::status() const {
  LogStatus status = {
      .enabled = IsKept(),
      .rewriting = IsRewriting(),
      .last_rewrite_took = last_rewrite_took_,
      .last_rewrite_ok = last_rewrite_ok_,
      .rewrites = rewrites_,
      .failures = failures_,
      .last_write_ok = write_error_.ok(),
      .base_bytes = bytes_after_rewrite_,
      .buffer_bytes = pending_.size(),
      .delayed_syncs = delayed_syncs_,
  };
  if (IsOn()) {
    status.current_bytes = base_bytes_ + old_bytes_ + thread_->progress().file_bytes;
    status.buffer_bytes += thread_->waiting();
  }
  if (rewrite_ != nullptr) {
    status.rewriting_for = engine_.store().now() - rewrite_->started_at;
  }
  if (rewrite_ != nullptr && rewrite_->snapshot != nullptr) {
    status.keys_saved = rewrite_->snapshot->keys_saved();
    status.keys_to_save = rewrite_->snapshot->keys();
  }
  return status;
}

// ---- Rewriting. ----

absl::Status AppendLog::Enable() {
  assert(!IsOn());
  if (absl::Status status = directory_.Lock(); !status.ok()) return status;
  if (absl::Status status = MakeDirectory(); !status.ok()) return status;
  const auto before = ReadManifest(files_, PathOf(ManifestName()));
  if (!before.ok() && !absl::IsNotFound(before.status())) return before.status();
  manifest_ = before.ok() ? *before : LogManifest();
  base_bytes_ = old_bytes_ = 0;
  StartThread(nullptr, 0);
  const absl::Status status = StartRewriting(/*keeps_old_files=*/false);
  if (!status.ok()) Disable();
  return status;
}

absl::Status AppendLog::WriteOnce() {
  const absl::Status status = Enable();
  ends_after_rewrite_ = status.ok();
  return status;
}

void AppendLog::Disable() {
  if (!IsOn()) return;
  if (rewrite_ != nullptr) log_.warning("Background append only file rewriting abandoned");
  HandOver();
  rewrite_.reset();
  thread_.reset();
  holds_replies_ = is_behind_ = is_repairing_ = unnamed_file_ = ends_after_rewrite_ = false;
  write_error_ = absl::OkStatus();
  engine_.disk().set_log_error({});
}

absl::StatusOr<std::unique_ptr<SnapshotFile>> AppendLog::CreateBase(const std::string& name) {
  const Settings& settings = engine_.settings();
  return std::make_unique<SnapshotFile>(
      files_,
      SnapshotFile::Options{.with_checksum = settings.rdbchecksum,
                            .syncs_in_steps = settings.aof_rewrite_incremental_fsync,
                            .directory = Directory(),
                            .name = name,
                            .draft_name = std::string(kDraftPrefix) + std::to_string(::getpid()) +
                                          "-" + std::to_string(++drafts_) + ".base"});
}

absl::Status AppendLog::StartRewriting() { return StartRewriting(/*keeps_old_files=*/true); }

absl::Status AppendLog::StartRewriting(bool keeps_old_files) {
  assert(rewrite_ == nullptr);
  last_try_at_ = engine_.store().now();
  const uint64_t base_number = manifest_.base ? manifest_.base->number + 1 : 1;
  const uint64_t number = manifest_.LastNumber() + 1;
  const LogFile base = {.name = BaseName(base_number), .number = base_number};
  const LogFile incremental = {.name = IncrementalName(number), .number = number};
  auto file = CreateBase(base.name);
  if (!file.ok()) return file.status();
  auto rewrite = std::make_unique<Rewrite>();
  rewrite->keeps_old_files = keeps_old_files;
  rewrite->started_at = engine_.store().now();
  rewrite->next = {.base = base, .incremental = {incremental}};
  rewrite->meanwhile = manifest_;
  rewrite->meanwhile.incremental.push_back(incremental);
  LogStep step = {.next_file = incremental.name};
  if (keeps_old_files) step.manifest = rewrite->meanwhile;
  HandOver();
  rewrite->old_bytes = thread_->progress().file_bytes + thread_->waiting();
  thread_->Do(std::move(step));
  rewrite->snapshot =
      std::make_unique<BackgroundSnapshot>(*std::move(file), engine_, dataset_.ContentsOfBase());
  rewrite_ = std::move(rewrite);
  ++rewrites_;
  engine_.effects().ForgetDatabase();
  ApplySettings();
  log_.notice("Background append only file rewriting started: " +
              std::to_string(rewrite_->snapshot->keys()) + " keys");
  return absl::OkStatus();
}

bool AppendLog::IsBeginning() const {
  return MustBegin() || (rewrite_ != nullptr && !rewrite_->keeps_old_files);
}

bool AppendLog::HasWork() const {
  return rewrite_ != nullptr && rewrite_->snapshot != nullptr && rewrite_->snapshot->HasWork();
}

void AppendLog::Continue() {
  if (!IsOn()) return;
  HandOver();
  WatchDisk();
  ApplySettings();
  if (rewrite_ == nullptr) return;
  if (const auto result = thread_->TakeStepResult()) return OnStepDone(*result);
  if (rewrite_->snapshot == nullptr) return;
  if (rewrite_->snapshot->HasWork()) rewrite_->snapshot->Continue();
  if (!rewrite_->snapshot->done() || !rewrite_->has_file) return;
  const absl::Status status = rewrite_->snapshot->status();
  return status.ok() ? BeginLastStep() : FailRewriting(status);
}

void AppendLog::BeginLastStep() {
  rewrite_->base_bytes = rewrite_->snapshot->written();
  rewrite_->snapshot.reset();
  rewrite_->is_finishing = true;
  LogStep step = {.manifest = rewrite_->next};
  if (manifest_.base) step.removed.push_back(manifest_.base->name);
  for (const LogFile& file : manifest_.incremental) {
    if (file != rewrite_->next.incremental[0]) step.removed.push_back(file.name);
  }
  for (const LogFile& file : manifest_.history) step.removed.push_back(file.name);
  thread_->Do(std::move(step));
}

void AppendLog::OnStepDone(const absl::Status& status) {
  if (!status.ok()) return FailRewriting(status);
  if (rewrite_->is_finishing) return FinishRewriting();
  rewrite_->has_file = true;
  if (rewrite_->keeps_old_files) {
    manifest_ = rewrite_->meanwhile;
    old_bytes_ += rewrite_->old_bytes;
  }
  if (rewrite_->is_abandoned) FailRewriting(absl::CancelledError("another snapshot is taken"));
}

bool AppendLog::AbandonRewriting() {
  if (rewrite_ == nullptr || rewrite_->snapshot == nullptr) return false;
  rewrite_->snapshot.reset();
  rewrite_->is_abandoned = true;
  if (rewrite_->has_file) FailRewriting(absl::CancelledError("another snapshot is taken"));
  return true;
}

void AppendLog::FinishRewriting() {
  const std::unique_ptr<Rewrite> rewrite = std::exchange(rewrite_, nullptr);
  manifest_ = rewrite->next;
  base_bytes_ = rewrite->base_bytes;
  old_bytes_ = 0;
  bytes_after_rewrite_ = base_bytes_ + thread_->progress().file_bytes;
  last_rewrite_took_ = engine_.store().now() - rewrite->started_at;
  last_rewrite_ok_ = true;
  failures_ = 0;
  is_repairing_ = false;
  ApplySettings();
  log_.notice(
      "Background append only file rewriting terminated with success: " + Megabytes(base_bytes_) +
      ", " + Rate(base_bytes_, std::chrono::duration_cast<Micros>(*last_rewrite_took_)));
  if (ends_after_rewrite_) Disable();
}

// What was written since it began stays: the old files are followed by the new one. If there are no
// old files that count, another try begins with another file.
void AppendLog::FailRewriting(const absl::Status& why) {
  last_rewrite_took_ = engine_.store().now() - rewrite_->started_at;
  last_rewrite_ok_ = false;
  if (!rewrite_->is_abandoned) ++failures_;
  if (!rewrite_->keeps_old_files) unnamed_file_ = true;
  rewrite_.reset();
  ApplySettings();
  log_.warning("The append only file could not be rewritten: " + std::string(ErrorLine(why)));
  if (ends_after_rewrite_) Disable();
}

void AppendLog::ConsiderRewriting() {
  if (!IsOn() || rewrite_ != nullptr) return;
  const Millis since_try = engine_.store().now() - last_try_at_;
  if (unnamed_file_ || is_repairing_) {
    const auto pause = kFirstPause * (1 << std::min<uint64_t>(failures_, 6));
    if (since_try < std::min(pause, kLongestWait)) return;
    const absl::Status status = StartRewriting(/*keeps_old_files=*/false);
    if (!status.ok()) log_.warning(ErrorLine(status));
    if (status.ok()) unnamed_file_ = false;
    return;
  }
  const Settings& settings = engine_.settings();
  if (settings.auto_aof_rewrite_percentage == 0) return;
  const uint64_t current = base_bytes_ + old_bytes_ + thread_->progress().file_bytes;
  if (current < static_cast<uint64_t>(settings.auto_aof_rewrite_min_size)) return;
  const uint64_t base = std::max<uint64_t>(bytes_after_rewrite_, 1);
  const uint64_t growth = current > base ? (current - base) * 100 / base : 0;
  if (growth < static_cast<uint64_t>(settings.auto_aof_rewrite_percentage)) return;
  if (failures_ >= kFreeFailures) {
    const uint64_t minutes = uint64_t{1} << std::min<uint64_t>(failures_ - kFreeFailures, 6);
    if (since_try < std::min(std::chrono::minutes(minutes), kLongestPause)) return;
  }
  log_.notice("Starting automatic rewriting of AOF on " + std::to_string(growth) + "% growth");
  const absl::Status status = StartRewriting();
  if (!status.ok()) log_.warning(ErrorLine(status));
}

// ---- The disk. ----

void AppendLog::WatchDisk() {
  const LogProgress progress = thread_->progress();
  const bool was_ok = write_error_.ok();
  if (progress.is_broken && !std::exchange(is_repairing_, true) && on_progress_) on_progress_();
  if (is_repairing_ && rewrite_ != nullptr && rewrite_->keeps_old_files) {
    FailRewriting(absl::InternalError("the log could not be synced"));
  }
  write_error_ = progress.write_error;
  if (write_error_.ok() && is_repairing_) {
    write_error_ = absl::InternalError("a sync has failed, and a new file is being begun");
  }
  if (was_ok != write_error_.ok()) {
    engine_.disk().set_log_error(std::string(ErrorLine(write_error_)));
    log_.warning(write_error_.ok()
                     ? "The append only file is written again"
                     : "Errors writing to the AOF file: " + std::string(ErrorLine(write_error_)));
  }
  const bool was_behind = is_behind_;
  is_behind_ = Policy() == SyncPolicy::kEverySecond &&
               (thread_->unsynced_for() > kMostUnsynced || thread_->waiting() > kMostUnwritten);
  if (is_behind_ && !was_behind) {
    ++delayed_syncs_;
    log_.warning(
        "Asynchronous AOF fsync is taking too long (disk is busy?). Replies to requests that write "
        "wait for it");
  }
}

}  // namespace zsetd
