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

// Writes a snapshot's file on a thread of its own. So no client waits for the disk, for the
// compression of a long string, or for the encoding of a large sorted set. Pieces are written in
// order. The methods must be called on one thread. Only the destructor waits for writes: it may run
// on another thread if Abandon() permits that.
class SnapshotThread {
 public:
  // The thread calls `on_progress` when half of the room is free again, and when done() becomes
  // true; it may be null. Its state outlives this. If no thread can be created, done() is true from
  // the start, and status() returns the reason.
  explicit SnapshotThread(std::unique_ptr<SnapshotSink> sink,
                          std::function<void()> on_progress = nullptr);

  // Completes running writes. Removes the draft if Finish() was not called.
  ~SnapshotThread();

  void Write(std::vector<SnapshotPiece> pieces);
  void Finish();

  // Discards the file unless its completion has begun. Returns false if that has begun and has not
  // ended: then the destructor must be called before another file may get the same name. Otherwise
  // the thread only has to end, and the destructor may be called anywhere, later. O(1).
  bool Abandon();

  // Whether the pieces that are not written yet take little memory.
  bool HasRoom() const { return waiting_ < kMostWaiting; }

  // Whether the file is complete or has failed. status() returns the result.
  bool done() const { return done_; }
  absl::Status status() const;
  uint64_t written() const { return written_; }  // bytes of the file so far

 private:
  static constexpr size_t kMostWaiting = 4u << 20;  // bytes

  void Run();
  bool BeginCompletion();
  bool OnWritten(size_t size);

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::unique_ptr<SnapshotSink> sink_;  // used by the thread only
  const std::function<void()> on_progress_;
  std::vector<SnapshotPiece> queue_;
  bool finishing_ = false;
  bool completes_ = false;  // the file will be complete, unless the disk fails
  absl::Status status_;
  std::atomic<bool> abandoned_ = false;
  std::atomic<size_t> waiting_ = 0;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace zsetd
