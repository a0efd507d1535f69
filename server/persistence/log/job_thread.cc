#include "server/persistence/log/job_thread.h"

#include <cassert>
#include <utility>

#include "server/engine/support/start_thread.h"

namespace zsetd {

JobThread::~JobThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

absl::Status JobThread::Start() {
  return StartThread(thread_, [this] { RunAll(); });
}

void JobThread::Run(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    assert(thread_.joinable() && next_ == nullptr && !stopping_);
    next_ = std::move(job);
  }
  arrived_.notify_one();
}

void JobThread::RunAll() {
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [this] { return next_ != nullptr || stopping_; });
    if (next_ == nullptr) return;
    const std::function<void()> job = std::exchange(next_, nullptr);
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace zsetd
