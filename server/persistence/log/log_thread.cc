#include "server/persistence/log/log_thread.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>
#include <vector>

namespace zsetd {
namespace {

constexpr std::chrono::seconds kBetweenSyncs{1};
constexpr std::chrono::seconds kBetweenRetries{1};

// After so many waits in which units did not come, one sync in sixteen still waits for them.
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
      thread_([this] { Run(); }) {}

LogThread::~LogThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

void LogThread::Append(OutputBuffer bytes, size_t units) {
  {
    const std::lock_guard lock(mutex_);
    appended_ += bytes.size();
    queued_ += units;
    queue_.emplace_back(Units{std::move(bytes), units});
    if (is_awaiting_ && LacksUnits()) return;
  }
  arrived_.notify_one();
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

std::optional<absl::Status> LogThread::TakeStepResult() {
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
  if (!unsynced_since_) return std::chrono::milliseconds(0);
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - *unsynced_since_);
}

bool LogThread::Flush() {
  std::unique_lock lock(mutex_);
  const uint64_t end = appended_;
  flushing_ = true;
  arrived_.notify_one();
  progressed_.wait(lock, [&] {
    const bool is_synced =
        is_named_ ? progress_.durable >= end : !unsynced_since_ && queue_.empty();
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
    if (CanWrite()) WriteItems(lock);
    if (IsSyncDue()) Sync(lock);
    const bool is_news = progress_.durable != before.durable || step_result_ ||
                         progress_.is_broken != before.is_broken ||
                         progress_.write_error.ok() != before.write_error.ok();
    if (is_news || flushing_) Notify(lock);
  }
}

// False when the thread is to end: all is done that can be.
bool LogThread::WaitForWork(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [this] { return stopping_ || CanWrite() || IsSyncDue(); };
  while (!has_work()) {
    if (!queue_.empty()) {
      arrived_.wait_until(lock, retry_at_);  // the last attempt has failed
    } else if (unsynced_since_ && policy_ == SyncPolicy::kEverySecond && !progress_.is_broken) {
      arrived_.wait_until(lock, synced_at_ + kBetweenSyncs);
    } else {
      arrived_.wait(lock);
    }
  }
  if (!stopping_ || CanWrite()) return true;
  if (IsSyncDue()) Sync(lock);
  return false;
}

bool LogThread::CanWrite() const { return !queue_.empty() && Clock::now() >= retry_at_; }

bool LogThread::IsSyncDue() const {
  if (!unsynced_since_ || progress_.is_broken || file_ == nullptr) return false;
  if (policy_ == SyncPolicy::kAlways || stopping_ || flushing_) return true;
  return policy_ == SyncPolicy::kEverySecond && Clock::now() >= synced_at_ + kBetweenSyncs;
}

// Until the units are there that are expected, if the sync before has only just ended.
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

// Writes all that has come, up to a step. What fails stays in the queue.
void LogThread::WriteItems(std::unique_lock<std::mutex>& lock) {
  while (!queue_.empty()) {
    Item item = std::move(queue_.front());
    if (auto* step = std::get_if<LogStep>(&item)) {
      queue_.pop_front();
      return DoStep(std::move(*step), lock);
    }
    const auto& [bytes, count] = std::get<Units>(item);
    const uint64_t file_bytes = progress_.file_bytes;
    lock.unlock();
    absl::Status status = WriteUnits(bytes, file_bytes);
    lock.lock();
    progress_.write_error = status;
    if (!status.ok()) {
      queue_.front() = std::move(item);
      retry_at_ = Clock::now() + kBetweenRetries;
      return;
    }
    queue_.pop_front();
    queued_ -= count;
    unsynced_ += count;
    progress_.written += bytes.size();
    progress_.file_bytes += bytes.size();
    if (!unsynced_since_) unsynced_since_ = Clock::now();
  }
}

// A unit of which a part was written is taken back: the file ends with a whole one at all times. If
// it cannot be, a new file must take this one's place.
absl::Status LogThread::WriteUnits(const OutputBuffer& units, uint64_t file_bytes) {
  if (file_ == nullptr) return absl::InternalError("there is no file");
  absl::Status status;
  for (const std::string_view piece : AllPieces(units)) {
    if (status.ok()) status = file_->Write(piece);
  }
  if (status.ok()) return status;
  if (!file_->Truncate(file_bytes).ok()) {
    const std::lock_guard lock(mutex_);
    progress_.is_broken = true;
  }
  return status;
}

void LogThread::Sync(std::unique_lock<std::mutex>& lock) {
  const uint64_t written = progress_.written;
  const size_t units = std::exchange(unsynced_, 0);
  const Clock::time_point start = Clock::now();
  lock.unlock();
  const absl::Status status = file_->SyncData();
  lock.lock();
  synced_at_ = Clock::now();
  expected_ = units + queued_;
  const bool waits = failed_waits_ < kMostFailedWaits || ++syncs_ % kSyncsBetween == 0;
  patience_ = waits ? std::min<Clock::duration>((synced_at_ - start) / 2, options_.longest_wait)
                    : Clock::duration(0);
  unsynced_since_.reset();
  if (!status.ok()) {
    progress_.is_broken = true;
    progress_.write_error = status;
  } else if (is_named_ && !progress_.is_broken) {
    progress_.durable = written;
  }
}

void LogThread::DoStep(LogStep step, std::unique_lock<std::mutex>& lock) {
  const bool opens = !step.next_file.empty();
  const bool was_broken = progress_.is_broken;
  const uint64_t written = progress_.written;
  lock.unlock();
  absl::Status status;
  bool synced = false;
  if (was_broken && !opens) {
    status = absl::InternalError("the file could not be synced");  // and cannot be from then on
  } else if (file_ != nullptr && !was_broken) {
    status = file_->SyncData();
    synced = status.ok();
  }
  const bool sync_failed = file_ != nullptr && !status.ok();
  std::unique_ptr<WritableFile> next;
  if (status.ok() && opens) {
    auto created = files_.Create(options_.directory + "/" + step.next_file);
    if (created.ok()) next = *std::move(created);
    status = created.status();
  }
  bool is_uncertain = false;
  if (status.ok() && step.manifest) {
    status = WriteManifest(files_, options_.directory, options_.manifest_name, *step.manifest,
                           is_uncertain);
  }
  if (status.ok()) {
    for (const std::string& name : step.removed) {
      (void)files_.Remove(options_.directory + "/" + name);
    }
  }
  lock.lock();
  if (status.ok() && opens) {
    file_ = std::move(next);
    progress_.file_bytes = 0;
    progress_.write_error = absl::OkStatus();
  }
  if (status.ok()) {
    unsynced_ = 0;
    is_named_ = step.manifest.has_value();
    progress_.is_broken = false;
    unsynced_since_.reset();
    if (is_named_) progress_.durable = written;
  } else if (sync_failed || is_uncertain) {
    progress_.is_broken = true;
    progress_.write_error = status;
  } else if (synced && is_named_) {
    progress_.durable = written;
  }
  --steps_ahead_;
  step_result_ = std::move(status);
}

void LogThread::Notify(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  progressed_.notify_all();
  if (options_.on_progress) options_.on_progress();
  lock.lock();
}

}  // namespace zsetd
