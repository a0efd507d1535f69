#include "server/persistence/snapshot/snapshot_thread.h"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "server/engine/support/start_thread.h"

namespace zsetd {
namespace {

// If cores are scarce, requests get more time, but the snapshot still gets a tenth of a core.
constexpr int kNicer = 10;

}  // namespace

SnapshotThread::SnapshotThread(std::unique_ptr<SnapshotSink> sink,
                               std::function<void()> on_progress)
    : sink_(std::move(sink)), on_progress_(std::move(on_progress)) {
  absl::Status started = StartThread(thread_, [this] { Run(); });
  if (started.ok()) return;
  status_ = std::move(started);
  sink_.reset();
  done_ = true;
}

SnapshotThread::~SnapshotThread() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = abandoned_ || !finishing_;
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void SnapshotThread::Write(std::vector<SnapshotPiece> pieces) {
  for (const SnapshotPiece& piece : pieces) waiting_ += piece.size();
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(pieces, std::back_inserter(queue_));
  }
  arrived_.notify_one();
}

void SnapshotThread::Finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  arrived_.notify_one();
}

bool SnapshotThread::Abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = !completes_;
  }
  arrived_.notify_one();
  return abandoned_ || done_;
}

bool SnapshotThread::BeginCompletion() {
  const std::lock_guard lock(mutex_);
  completes_ = !abandoned_;
  return completes_;
}

absl::Status SnapshotThread::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

// Ends after an error; the pieces in the queue are discarded.
void SnapshotThread::Run() {
  ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + kNicer);  // this thread, on Linux
  std::unique_lock lock(mutex_);
  while (!abandoned_ && status_.ok()) {
    arrived_.wait(lock, [this] { return abandoned_ || finishing_ || !queue_.empty(); });
    if (abandoned_) break;
    const bool is_last = finishing_;
    std::vector<SnapshotPiece> taken = std::exchange(queue_, {});
    lock.unlock();
    absl::Status status =
        WritePieces(std::move(taken), *sink_, [this](size_t size) { return OnWritten(size); });
    if (is_last && status.ok()) {
      status =
          BeginCompletion() ? sink_->Finish() : absl::CancelledError("the snapshot was canceled");
    }
    written_ = sink_->size();
    lock.lock();
    status_ = std::move(status);
    if (is_last) break;
  }
  lock.unlock();
  sink_.reset();  // removes an unfinished draft
  done_ = true;
  if (on_progress_) on_progress_();
}

// Signals progress when half of the room is free, so that the engine's thread, which may be asleep,
// can fill it while this thread continues. Returns false if the snapshot is canceled.
bool SnapshotThread::OnWritten(size_t size) {
  written_ = sink_->size();
  const size_t before = waiting_.fetch_sub(size);
  const bool has_room_again = before >= kMostWaiting / 2 && before - size < kMostWaiting / 2;
  if (has_room_again && on_progress_) on_progress_();
  return !abandoned_;
}

}  // namespace zsetd
