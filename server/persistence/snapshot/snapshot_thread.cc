#include "server/persistence/snapshot/snapshot_thread.h"

#include <utility>

namespace zsetd {

SnapshotThread::SnapshotThread(std::unique_ptr<SnapshotSink> sink)
    : sink_(std::move(sink)), thread_([this] { Run(); }) {}

SnapshotThread::~SnapshotThread() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = !finishing_;
  }
  arrived_.notify_one();
  thread_.join();
}

void SnapshotThread::Write(std::vector<SnapshotPiece> pieces) {
  {
    const std::lock_guard lock(mutex_);
    for (SnapshotPiece& piece : pieces) {
      waiting_ += piece.bytes.size();
      queue_.push_back(std::move(piece));
    }
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

size_t SnapshotThread::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

bool SnapshotThread::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

absl::Status SnapshotThread::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

uint64_t SnapshotThread::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

// After an error it ends: what comes then is thrown away with the queue.
void SnapshotThread::Run() {
  std::unique_lock lock(mutex_);
  while (!abandoned_ && status_.ok()) {
    arrived_.wait(lock, [this] { return abandoned_ || finishing_ || !queue_.empty(); });
    if (abandoned_) break;
    const bool is_last = finishing_;
    std::vector<SnapshotPiece> taken = std::exchange(queue_, {});
    lock.unlock();
    absl::Status status;
    size_t bytes = 0;
    for (SnapshotPiece& piece : taken) {
      bytes += piece.bytes.size();
      if (status.ok()) status = sink_->Write(std::move(piece).Encoded());
      piece = SnapshotPiece();
    }
    if (is_last && status.ok()) status = sink_->Finish();
    lock.lock();
    waiting_ -= bytes;
    written_ += bytes;
    status_ = std::move(status);
    if (is_last) break;
  }
  done_ = true;
  lock.unlock();
  sink_.reset();  // which removes an unfinished draft
}

}  // namespace zsetd
