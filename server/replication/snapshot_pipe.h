#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/output_buffer.h"
#include "server/persistence/snapshot/snapshot_sink.h"

namespace zsetd {

// A snapshot on its way to replicas, each of which reads it at its own speed. One thread writes,
// another reads; neither waits. The bytes are stored once, until all have read them.
class SnapshotPipe {
 public:
  // `on_progress` is called on the writing thread when more can be read, once until the next read.
  explicit SnapshotPipe(std::function<void()> on_progress) : on_progress_(std::move(on_progress)) {}
  SnapshotPipe(const SnapshotPipe&) = delete;

  // --- Writing. ---

  void Write(std::string_view bytes);
  void End();  // that was all

  // --- Reading. ---

  // Adds a reader that starts at the first byte. Precondition: nothing was written. Returns its
  // number.
  size_t AddReader();
  void RemoveReader(size_t reader);

  // Appends the next bytes for that reader: some ten KB, or none if no more are available now.
  void Read(size_t reader, OutputBuffer& out);

  // Whether that one has read all that there will be.
  bool IsAtEnd(size_t reader) const;

  // The bytes that the slowest reader has not read.
  size_t waiting() const;
  bool has_readers() const;

 private:
  static constexpr uint64_t kGone = ~uint64_t{0};

  uint64_t Slowest() const;
  void DropRead();

  mutable std::mutex mutex_;
  const std::function<void()> on_progress_;
  std::deque<std::string> pieces_;
  uint64_t first_ = 0;  // position of the first piece
  uint64_t end_ = 0;
  bool ended_ = false;
  bool is_announced_ = false;
  std::vector<uint64_t> readers_;  // positions; kGone: has left
};

// The end of a pipe that a snapshot is written to.
class PipeSink : public SnapshotSink {
 public:
  PipeSink(std::shared_ptr<SnapshotPipe> pipe, bool with_checksum)
      : SnapshotSink(with_checksum), pipe_(std::move(pipe)) {}

 private:
  absl::Status Put(std::string_view bytes) override;
  absl::Status Complete() override;

  std::shared_ptr<SnapshotPipe> pipe_;
};

}  // namespace zsetd
