#include "server/persistence/log/append_log.h"

#include <cassert>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "server/engine/support/errors.h"
#include "server/persistence/snapshot/background_snapshot.h"

namespace zsetd {
namespace {

constexpr Millis kMostUnsynced{2000};  // with everysec; beyond it the disk does not keep up

}  // namespace

AppendLog::AppendLog(Engine& engine, FileSystem& files, DataDirectory& directory, Dataset& dataset,
                     const Log& log, std::function<void()> on_progress)
    : engine_(engine),
      data_(directory),
      dataset_(dataset),
      log_(log),
      on_progress_(std::move(on_progress)),
      directory_(engine, files, directory),
      rewriter_(engine, directory_, dataset, log, on_progress_) {}

AppendLog::~AppendLog() { Disable(); }

SyncPolicy AppendLog::Policy() const {
  const Settings& settings = engine_.settings();
  if (settings.appendfsync == AppendFsync::kAlways) return SyncPolicy::kAlways;
  const bool yields = settings.no_appendfsync_on_rewrite && IsRewriting();
  return settings.appendfsync == AppendFsync::kNo || yields ? SyncPolicy::kNever
                                                            : SyncPolicy::kEverySecond;
}

// ---- At the start. ----

absl::Status AppendLog::StayIn(const std::string& directory) {
  if (absl::Status status = data_.Lock(directory); !status.ok()) return status;
  data_.Keep();
  directory_.StayIn(directory);
  return absl::OkStatus();
}

absl::Status AppendLog::Load() {
  if (absl::Status status = directory_.Open(); !status.ok()) return status;
  const auto loaded = LogReplay(engine_, directory_, dataset_, log_).Run();
  if (!loaded.ok()) return loaded.status();
  rewriter_.SetBytes(loaded->base, loaded->old);
  directory_.RemoveHistory();
  const auto& files = directory_.manifest().incremental;
  if (files.empty()) return StartNewFile();
  const std::string path = directory_.PathOf(files.back().name);
  auto opened = directory_.files().Append(path);
  if (!opened.ok()) return LogRefusal("write to", path, opened.status());
  return StartThread(*std::move(opened), loaded->last);
}

absl::Status AppendLog::LoadAgain() {
  assert(IsOn());
  if (!Flush()) return Refusal("the append only file could not be written completely");
  Continue();  // a completed step may have changed the files
  if (IsRewriting() || MustBegin()) return Refusal("the append only file is being rewritten");
  engine_.store().ClearAll();
  return LogReplay(engine_, directory_, dataset_, log_).Run().status();
}

absl::Status AppendLog::Create() {
  if (absl::Status status = directory_.Create(); !status.ok()) return status;
  const LogFile base = {.name = directory_.BaseName(1), .number = 1};
  const auto file = directory_.CreateBase(base.name);
  const absl::Status status = WriteSnapshot(engine_, dataset_.ContentsOfBase(), *file);
  if (!status.ok()) return status;
  directory_.set_manifest({.base = base});
  rewriter_.SetBytes(file->size(), 0);
  return StartNewFile();
}

absl::Status AppendLog::StartNewFile() {
  auto file = directory_.AddIncremental();
  if (!file.ok()) return file.status();
  return StartThread(*std::move(file), 0);
}

absl::Status AppendLog::StartThread(std::unique_ptr<WritableFile> file, uint64_t bytes) {
  auto thread =
      std::make_unique<LogThread>(directory_.files(),
                                  LogThread::Options{.directory = directory_.path(),
                                                     .manifest_name = directory_.ManifestName(),
                                                     .policy = policy_ = Policy(),
                                                     .on_progress = on_progress_},
                                  std::move(file), bytes);
  if (const absl::Status started = thread->Start(); !started.ok()) {
    return {started.code(), LogRefusal("append to", directory_.path(), started).message()};
  }
  thread_start_ = end_;
  thread_ = std::move(thread);
  ApplySettings();
  return absl::OkStatus();
}

// ---- While it is on. ----

uint64_t AppendLog::Append(OutputBuffer& unit) {
  assert(IsOn());
  ApplyNewPolicy();
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
  ++pending_units_;
  engine_.reply_holds().OnAppended(end_);
  engine_.reply_holds().set_log_is_unwritten(true);
  return end_;
}

void AppendLog::EndRound() {
  if (!IsOn()) return;
  ApplyNewPolicy();
  SubmitToThread();
  if (!engine_.reply_holds().log_is_unwritten()) return;
  const LogProgress progress = thread_->progress();
  NoteUnwritten(progress);
  if (progress.is_retrying) WatchDisk();
}

void AppendLog::SubmitToThread() {
  if (pending_.empty() || !IsOn()) return;
  thread_->Append(std::exchange(pending_, {}), std::exchange(pending_units_, 0));
}

void AppendLog::NoteUnwritten(const LogProgress& progress) {
  const bool is_unwritten = thread_start_ + progress.written < end_;
  const bool may_be_awaited = !progress.is_retrying && !HasNoBase();
  engine_.reply_holds().set_log_is_unwritten(is_unwritten && may_be_awaited);
}

// Whether the log is not valid yet because its first base is being written.
bool AppendLog::HasNoBase() const {
  return !is_repairing_ && (rewriter_.IsBeginning() || rewriter_.LeftUnnamedFile());
}

uint64_t AppendLog::durable() const {
  return IsOn() ? thread_start_ + thread_->progress().durable : end_;
}

uint64_t AppendLog::released() const {
  if (!IsOn()) return end_;
  const LogProgress progress = thread_->progress();
  if (engine_.reply_holds().IsOn()) return thread_start_ + progress.durable;
  return progress.is_retrying ? end_ : thread_start_ + progress.written;
}

bool AppendLog::Flush() {
  SubmitToThread();
  return !IsOn() || thread_->Flush();
}

void AppendLog::ApplySettings() {
  if (!IsOn()) return;
  if (const SyncPolicy policy = Policy(); policy != policy_) {
    policy_ = policy;
    thread_->set_policy(policy);
  }
  engine_.reply_holds().set_on(!HasNoBase() && (is_behind_ || Policy() == SyncPolicy::kAlways));
}

LogStatus AppendLog::status() const {
  LogStatus status = {
      .enabled = IsKept(),
      .has_base = IsOn() && !HasNoBase(),
      .last_write_ok = write_error_.ok(),
      .buffer_bytes = pending_.size(),
      .delayed_syncs = delayed_syncs_,
  };
  rewriter_.Describe(status);
  if (IsOn()) {
    status.current_bytes = rewriter_.old_bytes() + thread_->progress().file_bytes;
    status.buffer_bytes += thread_->waiting();
  }
  return status;
}

// ---- Rewriting. ----

absl::Status AppendLog::Prepare(const std::string& directory) {
  assert(!IsOn());
  absl::Status status = SettleIn(directory);
  Leave();
  return status;
}

// Also creates the log's directory.
absl::Status AppendLog::SettleIn(const std::string& directory) {
  absl::Status status = StayIn(directory);
  return status.ok() ? directory_.Create() : status;
}

void AppendLog::Leave() {
  directory_.Leave();
  data_.Release();
}

absl::Status AppendLog::Enable(const std::string& directory) {
  assert(!IsOn());
  absl::Status status = SettleIn(directory);
  if (status.ok()) {
    status = directory_.ReadManifest();
    if (absl::IsNotFound(status)) {
      directory_.set_manifest(LogManifest());
      status = absl::OkStatus();
    }
  }
  if (status.ok()) status = StartThread(nullptr, 0);
  if (!status.ok()) {
    Leave();
    return status;
  }
  rewriter_.SetBytes(0, 0);
  StartRewriting(/*keeps_old_files=*/false);
  return absl::OkStatus();
}

absl::Status AppendLog::WriteOnce() {
  const absl::Status status = Enable(data_.path());
  ends_after_rewrite_ = status.ok();
  return status;
}

void AppendLog::Disable() {
  if (!IsOn()) return;
  SubmitToThread();
  rewriter_.Reset();
  thread_.reset();
  Leave();
  is_behind_ = is_repairing_ = ends_after_rewrite_ = false;
  engine_.reply_holds().set_on(false);
  engine_.reply_holds().set_log_is_unwritten(false);
  write_error_ = absl::OkStatus();
  engine_.disk().set_log_error({});
  if (on_progress_) on_progress_();  // held replies can be sent now
}

void AppendLog::StartRewriting() { StartRewriting(/*keeps_old_files=*/!MustBegin()); }

void AppendLog::StartRewriting(bool keeps_old_files) {
  SubmitToThread();
  rewriter_.Start(*thread_, keeps_old_files);
  ApplySettings();
}

void AppendLog::Continue() {
  if (!IsOn()) return;
  SubmitToThread();
  WatchDisk();
  ApplySettings();
  const LogRewriter::Progress progress = rewriter_.Continue(*thread_);
  if (progress != LogRewriter::Progress::kNone) OnRewriteEnded(progress);
}

bool AppendLog::WaitForBase() {
  constexpr std::chrono::milliseconds kBetweenLooks{1};
  while (IsOn() && IsBeginning()) {
    const LogProgress progress = thread_->progress();
    if (!IsRewriting() || (progress.is_retrying && !progress.is_broken)) return false;
    Continue();
    if (!HasWork()) std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

void AppendLog::OnRewriteEnded(LogRewriter::Progress progress) {
  if (progress == LogRewriter::Progress::kDone) is_repairing_ = thread_->progress().is_broken;
  ApplySettings();
  if (ends_after_rewrite_) Disable();
}

void AppendLog::ConsiderRewriting() {
  if (!IsOn() || IsRewriting()) return;
  if (MustBegin()) {
    if (rewriter_.IsTimeToBegin()) StartRewriting(/*keeps_old_files=*/false);
    return;
  }
  const uint64_t bytes = rewriter_.old_bytes() + thread_->progress().file_bytes;
  const std::optional<uint64_t> growth = rewriter_.GrowthToRewrite(bytes);
  if (!growth) return;
  log_.Write(LogLevel::kNotice,
             "Starting automatic rewriting of AOF on " + std::to_string(*growth) + "% growth");
  StartRewriting();
}

// ---- The disk. ----

void AppendLog::WatchDisk() {
  const LogProgress progress = thread_->progress();
  const bool was_ok = write_error_.ok();
  if (progress.is_broken && !std::exchange(is_repairing_, true) && on_progress_) on_progress_();
  if (is_repairing_ && rewriter_.IsUnderWay() && !rewriter_.IsBeginning()) {
    rewriter_.GiveUp(absl::InternalError("the log could not be synced"));
  }
  write_error_ = progress.write_error;
  if (write_error_.ok() && is_repairing_) {
    write_error_ = absl::InternalError("a sync has failed; a new file is being started");
  }
  if (was_ok != write_error_.ok()) {
    engine_.disk().set_log_error(std::string(ErrorLine(write_error_)));
    log_.Write(LogLevel::kWarning, write_error_.ok() ? "Writing to the AOF file works again."
                                                     : "Errors writing to the AOF file: " +
                                                           std::string(ErrorLine(write_error_)));
  }
  const bool was_behind = is_behind_;
  const bool has_much_to_do =
      thread_->unsynced_for() > kMostUnsynced || thread_->waiting() > LogControl::kMostUnwritten;
  is_behind_ = Policy() == SyncPolicy::kEverySecond && has_much_to_do;
  if (is_behind_ && !was_behind) {
    ++delayed_syncs_;
    log_.Write(
        LogLevel::kWarning,
        "Asynchronous AOF fsync is taking too long (disk is busy?). Holding the replies of write "
        "requests until it ends");
  }
}

}  // namespace zsetd
