#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace zsetd {

// Frees what takes long to free, such as a set of millions, on a thread of its own, so that no
// client waits for it. What is passed to it must not be reachable from anywhere else.
class BackgroundFree {
 public:
  BackgroundFree();

  // Frees what is left.
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
