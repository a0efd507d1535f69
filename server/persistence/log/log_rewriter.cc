#include "server/persistence/log/log_rewriter.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <string>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

// Pauses between tries to begin a log. Each pause is twice as long as the last, up to kLongestWait.
constexpr std::chrono::seconds kFirstPause{5};
constexpr std::chrono::seconds kLongestWait{60};
constexpr uint64_t kFreeFailures = 3;  // failed rewrites in a row that are retried without a pause
constexpr std::chrono::minutes kLongestPause{60};

}  // namespace

void LogRewriter::Start(LogThread& thread, bool keeps_old_files) {
  assert(rewrite_ == nullptr);
  const LogManifest& manifest = directory_.manifest();
  last_base_ = std::max(last_base_, manifest.base ? manifest.base->number : 0) + 1;
  last_incremental_ = std::max(last_incremental_, manifest.LastNumber()) + 1;
  const LogFile base = {.name = directory_.BaseName(last_base_), .number = last_base_};
  const LogFile incremental = {.name = directory_.IncrementalName(last_incremental_),
                               .number = last_incremental_};
  auto rewrite = std::make_unique<Rewrite>();
  rewrite->keeps_old_files = keeps_old_files;
  rewrite->started_at = last_try_at_ = engine_.host().stopwatch();
  rewrite->next = {.base = base, .incremental = {incremental}};
  if (const absl::Status created = directory_.CreateIfMissing(); !created.ok()) {
    log_.Write(LogLevel::kWarning, std::string(ErrorLine(created)));  // then the step fails, too
  }
  LogStep step = {.next_file = incremental.name, .removed = unnamed_};
  if (keeps_old_files) {
    step.manifest = manifest;
    step.manifest->incremental.push_back(incremental);
  }
  rewrite->old_bytes = thread.progress().file_bytes + thread.waiting();
  thread.Do(std::move(step));
  rewrite->snapshot = std::make_unique<BackgroundSnapshot>(
      directory_.CreateBase(base.name), engine_, dataset_.ContentsOfBase(), on_progress_);
  rewrite_ = std::move(rewrite);
  if (!keeps_old_files) left_unnamed_file_ = false;
  ++rewrites_;
  engine_.effects().ForgetDatabase();
  log_.Write(LogLevel::kNotice, "Background append only file rewriting started: " +
                                    std::to_string(rewrite_->snapshot->keys()) + " keys");
}

bool LogRewriter::HasWork() const {
  if (rewrite_ == nullptr || rewrite_->snapshot == nullptr) return false;
  return rewrite_->snapshot->HasWork() || (rewrite_->snapshot->done() && !rewrite_->is_waiting);
}

LogRewriter::Progress LogRewriter::Continue(LogThread& thread) {
  if (rewrite_ == nullptr) return Progress::kNone;
  if (rewrite_->is_waiting) {
    if (auto result = thread.TakeStepResult()) return OnStepDone(*std::move(result), thread);
  } else if (!rewrite_->given_up.ok()) {
    return Fail(rewrite_->given_up, thread);
  }
  if (rewrite_->snapshot == nullptr) return Progress::kNone;
  if (rewrite_->snapshot->HasWork()) rewrite_->snapshot->Continue();
  if (!rewrite_->snapshot->done() || rewrite_->is_waiting) return Progress::kNone;
  const absl::Status status = rewrite_->snapshot->status();
  if (!status.ok()) return Fail(status, thread);
  BeginLastStep(thread);
  return Progress::kNone;
}

void LogRewriter::BeginLastStep(LogThread& thread) {
  rewrite_->base_bytes = rewrite_->snapshot->written();
  rewrite_->snapshot.reset();
  rewrite_->is_waiting = rewrite_->is_finishing = true;
  const LogManifest& manifest = directory_.manifest();
  std::vector<LogFile>& history = rewrite_->next.history;
  history = manifest.history;
  if (manifest.base) history.push_back(*manifest.base);
  for (const LogFile& file : manifest.incremental) {
    if (file != rewrite_->next.incremental[0]) history.push_back(file);
  }
  history.insert(history.end(), perhaps_named_.begin(), perhaps_named_.end());
  thread.Do({.manifest = rewrite_->next});
}

LogRewriter::Progress LogRewriter::OnStepDone(absl::StatusOr<LogManifest> result,
                                              LogThread& thread) {
  rewrite_->is_waiting = false;
  if (!result.ok()) return Fail(result.status(), thread);
  unnamed_.clear();
  const bool has_manifest = rewrite_->is_finishing || rewrite_->keeps_old_files;
  if (has_manifest) directory_.set_manifest(*std::move(result));
  if (rewrite_->is_finishing) {
    Finish(thread);
    return Progress::kDone;
  }
  if (rewrite_->keeps_old_files) incremental_bytes_ += rewrite_->old_bytes;
  return rewrite_->given_up.ok() ? Progress::kNone : Fail(rewrite_->given_up, thread);
}

bool LogRewriter::Abandon() {
  if (rewrite_ == nullptr || rewrite_->snapshot == nullptr) return false;
  GiveUp(absl::CancelledError("another snapshot takes precedence"));
  return true;
}

void LogRewriter::GiveUp(absl::Status why) {
  rewrite_->snapshot.reset();
  if (rewrite_->given_up.ok()) rewrite_->given_up = std::move(why);
}

void LogRewriter::Finish(LogThread& thread) {
  const std::unique_ptr<Rewrite> rewrite = std::exchange(rewrite_, nullptr);
  perhaps_named_.clear();
  base_bytes_ = rewrite->base_bytes;
  incremental_bytes_ = 0;
  bytes_after_rewrite_ = base_bytes_ + thread.progress().file_bytes;
  last_took_ = engine_.host().stopwatch() - rewrite->started_at;
  last_ok_ = true;
  failures_ = failed_beginnings_ = 0;
  log_.Write(LogLevel::kNotice, "Background append only file rewriting terminated with success: " +
                                    Megabytes(base_bytes_) + ", " + Rate(base_bytes_, *last_took_));
}

// `why` is a copy because the original may be a member of `rewrite_`.
LogRewriter::Progress LogRewriter::Fail(absl::Status why, const LogThread& thread) {
  last_took_ = engine_.host().stopwatch() - rewrite_->started_at;
  const bool is_failure = !absl::IsCancelled(why);
  if (is_failure) {
    last_ok_ = false;
    ++failures_;
    if (!rewrite_->keeps_old_files) ++failed_beginnings_;
  }
  if (!rewrite_->keeps_old_files) left_unnamed_file_ = true;
  // A step that leaves the manifest uncertain breaks the log.
  NoteLeftovers(thread.progress().is_broken ? perhaps_named_ : unnamed_);
  rewrite_.reset();
  log_.Write(LogLevel::kWarning,
             "Cannot rewrite the append only file: " + std::string(ErrorLine(why)));
  return Progress::kFailed;
}

// Adds the files of the running rewrite that the manifest in memory does not name.
void LogRewriter::NoteLeftovers(std::vector<LogFile>& files) const {
  files.push_back(*rewrite_->next.base);
  const LogFile& file = rewrite_->next.incremental[0];
  if (!directory_.manifest().Needs(file.name)) files.push_back(file);
}

void LogRewriter::Reset() {
  if (rewrite_ != nullptr)
    log_.Write(LogLevel::kWarning, "Background append only file rewriting canceled");
  rewrite_.reset();
  left_unnamed_file_ = false;
  failed_beginnings_ = 0;
  // The next log reads the manifest again, perhaps in another directory. All names that an older
  // state of the disk may have are in it or have smaller numbers.
  last_base_ = last_incremental_ = 0;
  unnamed_.clear();
  perhaps_named_.clear();
}

bool LogRewriter::IsTimeToBegin() const {
  if (failed_beginnings_ == 0) return true;
  const auto pause = kFirstPause * (1 << std::min<uint64_t>(failed_beginnings_ - 1, 6));
  return engine_.host().stopwatch() - last_try_at_ >= std::min(pause, kLongestWait);
}

std::optional<uint64_t> LogRewriter::GrowthToRewrite(uint64_t bytes) const {
  const Settings& settings = engine_.settings();
  if (settings.auto_aof_rewrite_percentage == 0) return std::nullopt;
  if (bytes < static_cast<uint64_t>(settings.auto_aof_rewrite_min_size)) return std::nullopt;
  const uint64_t base = std::max<uint64_t>(bytes_after_rewrite_, 1);
  const uint64_t growth = bytes > base ? (bytes - base) * 100 / base : 0;
  if (growth < static_cast<uint64_t>(settings.auto_aof_rewrite_percentage)) return std::nullopt;
  if (failures_ >= kFreeFailures) {
    const uint64_t minutes = uint64_t{1} << std::min<uint64_t>(failures_ - kFreeFailures, 6);
    const auto pause = std::min(std::chrono::minutes(minutes), kLongestPause);
    if (engine_.host().stopwatch() - last_try_at_ < pause) return std::nullopt;
  }
  return growth;
}

void LogRewriter::Describe(LogStatus& status) const {
  status.rewriting = IsUnderWay();
  if (last_took_) status.last_rewrite_took = std::chrono::duration_cast<Millis>(*last_took_);
  status.last_rewrite_ok = last_ok_;
  status.rewrites = rewrites_;
  status.failures = failures_;
  status.base_bytes = bytes_after_rewrite_;
  if (rewrite_ == nullptr) return;
  status.rewriting_for =
      std::chrono::duration_cast<Millis>(engine_.host().stopwatch() - rewrite_->started_at);
  if (rewrite_->snapshot == nullptr) return;
  status.keys_saved = rewrite_->snapshot->keys_saved();
  status.keys_to_save = rewrite_->snapshot->keys();
}

}  // namespace zsetd
