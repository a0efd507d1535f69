#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace zsetd {

// Frees large objects, such as a set of millions of members, on a thread of its own, so that no
// client waits. No other code may refer to such an object.
class BackgroundFree {
 public:
  BackgroundFree() = default;
  BackgroundFree(const BackgroundFree&) = delete;

  // Starts the thread. Must succeed before the first FreeLater().
  absl::Status Start();

  // Frees the remaining objects.
  ~BackgroundFree();

  void FreeLater(std::shared_ptr<void> garbage);

 private:
  using Heap = std::vector<std::shared_ptr<void>>;

  void Run();

  std::mutex mutex_;
  std::condition_variable arrived_;
  Heap heap_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace zsetd
