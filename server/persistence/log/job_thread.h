#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/status.h"

namespace zsetd {

// Runs jobs on a thread of its own, one at a time.
class JobThread {
 public:
  JobThread() = default;
  JobThread(const JobThread&) = delete;

  // Waits for the job that is running.
  ~JobThread();

  // Starts the thread. Must succeed before the first job.
  absl::Status Start();

  // Returns immediately. The previous job must have ended, or be about to return.
  void Run(std::function<void()> job);

 private:
  void RunAll();

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::function<void()> next_;  // null: none
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace zsetd
