#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "protocol/rdb/rdb_writer.h"
#include "server/persistence/snapshot/snapshot_sink.h"

namespace zsetd {

// A piece of a snapshot's file on its way to the disk: bytes of the file, or a long string that is
// still to be compressed.
struct SnapshotPiece {
  std::string bytes;
  bool is_string = false;
  bool compresses = false;

  // The bytes of the file. O(bytes), and slow for a string that is compressed.
  std::string Encoded() && {
    if (!is_string) return std::move(bytes);
    std::string encoded;
    RdbWriter(encoded, compresses).String(bytes);
    return encoded;
  }
};

// Writes a snapshot's file on a thread of its own, so that no client waits for the disk or for a
// long string to be compressed. What is handed over is written in order. All methods are for one
// thread, and none waits for the disk but the destructor.
class SnapshotThread {
 public:
  explicit SnapshotThread(std::unique_ptr<SnapshotSink> sink);

  // Finishes what was begun; without Finish() before, the draft is removed.
  ~SnapshotThread();

  void Write(std::vector<SnapshotPiece> pieces);
  void Finish();

  // Bytes that were handed over and are not written yet.
  size_t waiting() const;

  // Whether it is finished, or has failed: status() says which.
  bool done() const;
  absl::Status status() const;
  uint64_t written() const;  // bytes

 private:
  void Run();

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::unique_ptr<SnapshotSink> sink_;  // the thread's own
  std::vector<SnapshotPiece> queue_;
  size_t waiting_ = 0;
  uint64_t written_ = 0;
  bool finishing_ = false;
  bool abandoned_ = false;
  bool done_ = false;
  absl::Status status_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace zsetd
