#include "server/process/background_free.h"

#include <cassert>
#include <utility>

#include "server/engine/support/start_thread.h"

namespace zsetd {

absl::Status BackgroundFree::Start() {
  return StartThread(thread_, [this] { Run(); });
}

BackgroundFree::~BackgroundFree() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void BackgroundFree::FreeLater(std::shared_ptr<void> garbage) {
  assert(thread_.joinable());
  {
    const std::lock_guard lock(mutex_);
    heap_.push_back(std::move(garbage));
  }
  arrived_.notify_one();
}

void BackgroundFree::Run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    arrived_.wait(lock, [this] { return ending_ || !heap_.empty(); });
    Heap taken = std::exchange(heap_, {});
    lock.unlock();
    taken.clear();
    lock.lock();
  }
}

}  // namespace zsetd
