#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "server/persistence/snapshot/snapshot_piece.h"
#include "server/persistence/snapshot/snapshot_sink.h"

namespace zsetd {

// Writes a snapshot's file on a thread of its own, so that no client waits for the disk, for a long
// string to be compressed or for the elements of a large sorted set. Parts are written in order.
// All methods are for one thread, and only the destructor waits for writes.
class SnapshotThread {
 public:
  // `on_progress` is called on that thread when half of the room is free again, and when done()
  // becomes true; or null. Its state outlives this.
  explicit SnapshotThread(std::unique_ptr<SnapshotSink> sink,
                          std::function<void()> on_progress = nullptr);

  // Completes running writes; without Finish() before, the draft is removed.
  ~SnapshotThread();

  void Write(std::vector<SnapshotPiece> pieces);
  void Finish();

  // Whether the parts that are not yet written take little memory.
  bool HasRoom() const { return waiting_ < kMostWaiting; }

  // Whether it has finished or failed: status() returns which.
  bool done() const { return done_; }
  absl::Status status() const;
  uint64_t written() const { return written_; }  // bytes of the file

 private:
  static constexpr size_t kMostWaiting = 4u << 20;  // bytes

  void Run();
  bool OnWritten(size_t size);

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::unique_ptr<SnapshotSink> sink_;  // the thread's own
  const std::function<void()> on_progress_;
  std::vector<SnapshotPiece> queue_;
  bool finishing_ = false;
  absl::Status status_;
  std::atomic<bool> abandoned_ = false;
  std::atomic<size_t> waiting_ = 0;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace zsetd
