#include "server/persistence/log/log_thread.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>
#include <vector>

#include "server/engine/support/start_thread.h"

namespace zsetd {
namespace {

constexpr std::chrono::seconds kBetweenSyncs{1};
constexpr std::chrono::seconds kBetweenRetries{1};

// A direct write that takes longer than kSlowWrite was blocked by the kernel. The next writes are
// likely to block too, so the log's thread does them for kAfterSlowWrite.
constexpr std::chrono::milliseconds kSlowWrite{1};
constexpr std::chrono::milliseconds kAfterSlowWrite{100};

constexpr uint64_t kBetweenWriteBacks = 1u << 20;
constexpr uint64_t kEndOfFile = 64u << 10;  // not written back, because the next write changes it

// After this number of unsuccessful waits, only one sync in sixteen waits for units.
constexpr int kMostFailedWaits = 2;
constexpr uint64_t kSyncsBetween = 16;

std::vector<std::string_view> AllPieces(const OutputBuffer& bytes) {
  std::vector<std::string_view> pieces(64);
  size_t count = bytes.Pieces(pieces);
  while (count == pieces.size()) {
    pieces.resize(2 * count);
    count = bytes.Pieces(pieces);
  }
  pieces.resize(count);
  return pieces;
}

}  // namespace

LogThread::LogThread(FileSystem& files, Options options, std::unique_ptr<WritableFile> file,
                     uint64_t file_bytes)
    : files_(files),
      options_(std::move(options)),
      file_(std::move(file)),
      policy_(options_.policy),
      progress_{.file_bytes = file_bytes},
      synced_at_(Clock::now()),
      retry_at_(synced_at_),
      written_back_(file_bytes) {}

absl::Status LogThread::Start() {
  const absl::Status started = jobs_.Start();
  return started.ok() ? StartThread(thread_, [this] { Run(); }) : started;
}

LogThread::~LogThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void LogThread::Append(OutputBuffer bytes, size_t units) {
  {
    const std::lock_guard lock(mutex_);
    appended_ += bytes.size();
    const bool was_clean = !unsynced_since_;
    if (CanWriteDirectly() && WriteDirectly(bytes)) {
      if (IsWriteBackDue()) StartWriteBack();
      if (!was_clean || policy_ == SyncPolicy::kNever) return;
    } else {
      queued_ += units;
      queue_.emplace_back(Units{std::move(bytes), units});
      if (is_awaiting_ && LacksUnits()) return;
    }
  }
  arrived_.notify_one();
}

bool LogThread::CanWriteDirectly() const {
  if (policy_ == SyncPolicy::kAlways || !queue_.empty()) return false;
  if (file_ == nullptr || is_torn_) return false;
  return job_ != Job::kSync && job_ != Job::kStep && Clock::now() >= direct_from_;
}

// Returns false if the write fails; the log's thread then retries. The caller holds the mutex, so
// that neither a sync nor a step begins during the write.
bool LogThread::WriteDirectly(const OutputBuffer& bytes) {
  const Clock::time_point start = Clock::now();
  const absl::Status status = WriteUnits(bytes, progress_.file_bytes, is_torn_);
  const Clock::time_point end = Clock::now();
  if (end - start >= kSlowWrite) direct_from_ = end + kAfterSlowWrite;
  if (status.ok()) {
    OnWritten(bytes.size());
  } else {
    OnWriteFailed(status);
  }
  return status.ok();
}

void LogThread::Do(LogStep step) {
  {
    const std::lock_guard lock(mutex_);
    assert(steps_ahead_ == 0 && !step_result_);
    queue_.emplace_back(std::move(step));
    ++steps_ahead_;
  }
  arrived_.notify_one();
}

std::optional<absl::StatusOr<LogManifest>> LogThread::TakeStepResult() {
  const std::lock_guard lock(mutex_);
  return std::exchange(step_result_, std::nullopt);
}

void LogThread::set_policy(SyncPolicy policy) {
  {
    const std::lock_guard lock(mutex_);
    policy_ = policy;
    expected_ = unsynced_ = 0;
  }
  arrived_.notify_one();
}

LogProgress LogThread::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

uint64_t LogThread::waiting() const {
  const std::lock_guard lock(mutex_);
  return appended_ - progress_.written;
}

std::chrono::milliseconds LogThread::unsynced_for() const {
  const std::lock_guard lock(mutex_);
  const auto since = syncing_since_ ? syncing_since_ : unsynced_since_;
  if (!since) return std::chrono::milliseconds(0);
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - *since);
}

bool LogThread::Flush() {
  std::unique_lock lock(mutex_);
  const uint64_t end = appended_;
  flushing_ = true;
  arrived_.notify_one();
  progressed_.wait(lock, [&] {
    const bool is_synced = is_named_ ? progress_.durable >= end
                                     : !unsynced_since_ && !syncing_since_ && queue_.empty();
    const bool is_done = is_synced && steps_ahead_ == 0;
    return is_done || progress_.is_broken || !progress_.write_error.ok();
  });
  flushing_ = false;
  return progress_.durable >= end;
}

void LogThread::Run() {
  std::unique_lock lock(mutex_);
  while (WaitForWork(lock)) {
    const LogProgress before = progress_;
    if (CanWrite()) AwaitUnits(lock);
    const bool has_written = CanWrite() && WriteItems(lock);
    if (IsSyncDue()) Sync(lock);
    if (IsWriteBackDue()) StartWriteBack();
    const bool is_news = (has_written && policy_ != SyncPolicy::kAlways) ||
                         progress_.durable != before.durable ||
                         progress_.is_broken != before.is_broken ||
                         progress_.write_error.ok() != before.write_error.ok();
    if (is_news || flushing_) Notify(lock);
  }
}

// Returns false when the thread must end. All work that is possible is done then.
bool LogThread::WaitForWork(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [this] {
    return CanWrite() || IsSyncDue() || IsWriteBackDue() || (stopping_ && job_ == Job::kNone);
  };
  while (!has_work()) {
    if (const auto next = NextAttempt()) {
      arrived_.wait_until(lock, *next);
    } else {
      arrived_.wait(lock);
    }
  }
  if (!stopping_ || CanWrite() || job_ != Job::kNone) return true;
  if (IsSyncDue()) Sync(lock);
  return false;
}

// The time of the next work that no other thread signals.
std::optional<LogThread::Clock::time_point> LogThread::NextAttempt() const {
  const bool is_step_next = !queue_.empty() && std::holds_alternative<LogStep>(queue_.front());
  if (!queue_.empty() && !is_step_next && !is_changing_file_) return retry_at_;
  const bool is_sync_ahead = unsynced_since_ && policy_ == SyncPolicy::kEverySecond &&
                             !progress_.is_broken && job_ == Job::kNone;
  if (is_sync_ahead) return synced_at_ + kBetweenSyncs;
  return std::nullopt;
}

bool LogThread::CanWrite() const {
  if (queue_.empty() || is_changing_file_) return false;
  const bool is_step_next = std::holds_alternative<LogStep>(queue_.front());
  return is_step_next ? job_ == Job::kNone : Clock::now() >= retry_at_;
}

bool LogThread::IsSyncDue() const {
  if (!unsynced_since_ || progress_.is_broken || file_ == nullptr || job_ != Job::kNone) {
    return false;
  }
  if (policy_ == SyncPolicy::kAlways || stopping_ || flushing_) return true;
  return policy_ == SyncPolicy::kEverySecond && Clock::now() >= synced_at_ + kBetweenSyncs;
}

bool LogThread::IsWriteBackDue() const {
  return policy_ == SyncPolicy::kEverySecond && job_ == Job::kNone && file_ != nullptr &&
         progress_.file_bytes >= written_back_ + kBetweenWriteBacks + kEndOfFile;
}

// Waits until the expected units have arrived, or the patience after the last sync has ended.
void LogThread::AwaitUnits(std::unique_lock<std::mutex>& lock) {
  if (policy_ != SyncPolicy::kAlways || !LacksUnits()) return;
  const auto goes_on = [this] {
    return stopping_ || flushing_ || steps_ahead_ > 0 || policy_ != SyncPolicy::kAlways ||
           !LacksUnits();
  };
  is_awaiting_ = true;
  const Clock::time_point until = synced_at_ + patience_;
  const bool had_to_wait = Clock::now() < until;
  arrived_.wait_until(lock, until, goes_on);
  is_awaiting_ = false;
  if (!had_to_wait) return;
  const bool most_came = queued_ >= expected_ - expected_ / 8;
  failed_waits_ = most_came ? 0 : failed_waits_ + 1;
}

// Writes all units up to the next step, and starts that step. Returns whether it has written any
// unit. Units that cannot be written stay in the queue.
bool LogThread::WriteItems(std::unique_lock<std::mutex>& lock) {
  bool has_written = false;
  while (CanWrite()) {
    Item item = std::move(queue_.front());
    if (auto* step = std::get_if<LogStep>(&item)) {
      queue_.pop_front();
      StartStep(std::move(*step));
      return has_written;
    }
    const auto& [bytes, count] = std::get<Units>(item);
    const uint64_t file_bytes = progress_.file_bytes;
    bool is_torn = is_torn_;
    lock.unlock();
    const absl::Status status = WriteUnits(bytes, file_bytes, is_torn);
    lock.lock();
    is_torn_ = is_torn;
    if (!status.ok()) {
      OnWriteFailed(status);
      queue_.front() = std::move(item);
      if (is_torn_) BringStepForward();
      return has_written;
    }
    queue_.pop_front();
    queued_ -= count;
    unsynced_ += count;
    OnWritten(bytes.size());
    has_written = true;
  }
  return has_written;
}

// After a failed write, truncates the file to its old size, so that it always ends with a complete
// unit. If that fails too, `is_torn` becomes true, and a new file must replace this one. Until then
// each write begins with the truncation, so that no unit follows a part of another one.
absl::Status LogThread::WriteUnits(const OutputBuffer& units, uint64_t file_bytes, bool& is_torn) {
  if (file_ == nullptr) return absl::InternalError("there is no file");
  absl::Status status = is_torn ? file_->Truncate(file_bytes) : absl::OkStatus();
  for (const std::string_view piece : AllPieces(units)) {
    if (status.ok()) status = file_->Write(piece);
  }
  is_torn = !status.ok() && !file_->Truncate(file_bytes).ok();
  return status;
}

// The units before the step would wait forever if the file stays torn, and the step would wait for
// them. It need not: the file is broken, so the step either fails, or begins a log whose base
// contains their changes.
void LogThread::BringStepForward() {
  const auto step = std::find_if(queue_.begin(), queue_.end(), [](const Item& item) {
    return std::holds_alternative<LogStep>(item);
  });
  if (step == queue_.end()) return;
  passed_ = static_cast<size_t>(step - queue_.begin());
  std::rotate(queue_.begin(), step, step + 1);
}

// Drops the units that the step has passed.
void LogThread::DropPassedUnits() {
  for (; passed_ > 0; --passed_) {
    const auto& [bytes, count] = std::get<Units>(queue_.front());
    queued_ -= count;
    progress_.written += bytes.size();
    queue_.pop_front();
  }
}

void LogThread::OnWritten(uint64_t bytes) {
  progress_.write_error = absl::OkStatus();
  progress_.is_retrying = false;
  progress_.written += bytes;
  progress_.file_bytes += bytes;
  if (!unsynced_since_) unsynced_since_ = Clock::now();
}

void LogThread::OnWriteFailed(absl::Status why) {
  progress_.write_error = std::move(why);
  progress_.is_retrying = true;
  if (is_torn_) progress_.is_broken = true;
  retry_at_ = Clock::now() + kBetweenRetries;
}

// ---- Syncing. ----

// Returns the position that the sync covers.
uint64_t LogThread::BeginSync() {
  syncing_since_ = std::exchange(unsynced_since_, std::nullopt);
  written_back_ = progress_.file_bytes;
  return progress_.written;
}

void LogThread::EndSync(const absl::Status& status, uint64_t position) {
  synced_at_ = Clock::now();
  syncing_since_.reset();
  if (!status.ok()) {
    progress_.is_broken = true;
    progress_.write_error = status;
  } else if (is_named_ && !progress_.is_broken) {
    progress_.durable = position;
  }
}

void LogThread::Sync(std::unique_lock<std::mutex>& lock) {
  if (policy_ != SyncPolicy::kAlways && !stopping_) return StartSync();
  const size_t units = std::exchange(unsynced_, 0);
  const uint64_t position = BeginSync();
  const Clock::time_point start = Clock::now();
  job_ = Job::kSync;
  lock.unlock();
  const absl::Status status = file_->SyncData();
  lock.lock();
  job_ = Job::kNone;
  EndSync(status, position);
  expected_ = units + queued_;
  const bool waits = failed_waits_ < kMostFailedWaits || ++syncs_ % kSyncsBetween == 0;
  patience_ = waits ? std::min<Clock::duration>((synced_at_ - start) / 2, options_.longest_wait)
                    : Clock::duration(0);
}

void LogThread::StartSync() {
  job_ = Job::kSync;
  jobs_.Run([this, file = file_.get(), position = BeginSync()] {
    const absl::Status status = file->SyncData();
    EndJob([&] { EndSync(status, position); });
  });
}

// The range ends at a multiple of kEndOfFile, before the end of the file.
void LogThread::StartWriteBack() {
  const uint64_t from = written_back_;
  written_back_ = (progress_.file_bytes - kEndOfFile) / kEndOfFile * kEndOfFile;
  job_ = Job::kWriteBack;
  jobs_.Run([this, file = file_.get(), from, bytes = written_back_ - from] {
    file->StartWriteBack(from, bytes);
    EndJob([] {});
  });
}

// ---- Steps. ----

void LogThread::StartStep(LogStep step) {
  job_ = Job::kStep;
  is_changing_file_ = !step.next_file.empty();
  jobs_.Run([this, step = std::move(step), file = file_.get(), was_broken = progress_.is_broken,
             position = BeginSync()] {
    StepResult result = DoStep(step, file, was_broken);
    EndJob([&] { EndStep(step, std::move(result), position); });
  });
}

// Called without the mutex.
LogThread::StepResult LogThread::DoStep(const LogStep& step, WritableFile* file,
                                        bool was_broken) const {
  StepResult result;
  const bool opens = !step.next_file.empty();
  if (was_broken && (!opens || step.manifest)) {
    result.status = absl::InternalError("the file could not be synced");  // no retry can succeed
    result.is_broken = true;
    return result;
  }
  if (file != nullptr && !was_broken) {
    result.status = file->SyncData();
    result.is_broken = !result.status.ok();
    result.is_synced = result.status.ok();
  }
  if (result.status.ok() && opens) {
    auto created = files_.Create(options_.directory + "/" + step.next_file);
    result.status = created.status();
    if (created.ok()) result.next = *std::move(created);
  }
  if (result.status.ok() && step.manifest) {
    result.status = WriteManifest(files_, options_.directory, options_.manifest_name,
                                  *step.manifest, result.is_broken);
  }
  if (!result.status.ok()) return result;
  for (const LogFile& removed : step.removed) {
    (void)files_.Remove(options_.directory + "/" + removed.name);
  }
  if (step.manifest) {
    result.manifest =
        RemoveHistory(files_, options_.directory, options_.manifest_name, *step.manifest);
  }
  return result;
}

void LogThread::EndStep(const LogStep& step, StepResult result, uint64_t position) {
  const auto unsynced_before = std::exchange(syncing_since_, std::nullopt);
  if (result.next != nullptr && result.status.ok()) {
    file_ = std::move(result.next);
    progress_.file_bytes = written_back_ = 0;
    progress_.write_error = absl::OkStatus();
    progress_.is_retrying = progress_.is_broken = is_torn_ = false;
    DropPassedUnits();
  }
  passed_ = 0;
  if (result.status.ok()) {
    unsynced_ = 0;
    is_named_ = step.manifest.has_value();
    if (is_named_) progress_.durable = position;
  } else {
    if (unsynced_before) unsynced_since_ = unsynced_before;
    if (result.is_broken) {
      progress_.is_broken = true;
      progress_.write_error = result.status;
    } else if (result.is_synced && is_named_) {
      progress_.durable = position;
    }
  }
  is_changing_file_ = false;
  --steps_ahead_;
  if (result.status.ok()) {
    step_result_ = std::move(result.manifest);
  } else {
    step_result_ = std::move(result.status);
  }
}

// Ends a job. `note` stores its result.
void LogThread::EndJob(const std::function<void()>& note) {
  std::unique_lock lock(mutex_);
  const bool is_news = job_ != Job::kWriteBack;
  note();
  job_ = Job::kNone;
  arrived_.notify_one();
  if (is_news) Notify(lock);
}

// Releases the mutex during the calls.
void LogThread::Notify(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  progressed_.notify_all();
  if (options_.on_progress) options_.on_progress();
  lock.lock();
}

}  // namespace zsetd
