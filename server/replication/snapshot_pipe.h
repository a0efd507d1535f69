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

// A snapshot on its way to replicas. Each replica reads it at its own speed. One thread writes and
// another one reads, without waiting. The bytes are stored once, until all replicas have read them.
class SnapshotPipe {
 public:
  // `on_progress` is called on the writing thread when new bytes are available, at most once until
  // the next Read().
  explicit SnapshotPipe(std::function<void()> on_progress) : on_progress_(std::move(on_progress)) {}
  SnapshotPipe(const SnapshotPipe&) = delete;

  // --- Writing. ---

  void Write(std::string_view bytes);
  void End();  // no more bytes follow

  // Ends the calls of `on_progress`. Waits for a call that is running. The writing thread may
  // continue afterwards.
  void Silence();

  // --- Reading. ---

  // Adds a reader that starts at the first byte, and returns its number. Precondition: no bytes
  // were written.
  size_t AddReader();
  void RemoveReader(size_t reader);

  // Appends the next bytes for this reader to `out`: some tens of KB, or none if none are available
  // now.
  void Read(size_t reader, OutputBuffer& out);

  // Whether this reader has read all bytes, and no more bytes follow.
  bool IsAtEnd(size_t reader) const;

  // The number of bytes that the slowest reader has not read.
  size_t waiting() const;
  bool has_readers() const;

 private:
  static constexpr uint64_t kGone = ~uint64_t{0};

  uint64_t Slowest() const;
  void DropRead();
  void Announce();

  mutable std::mutex mutex_;
  std::mutex announcing_;
  std::function<void()> on_progress_;  // guarded by `announcing_`; null: silenced
  std::deque<std::string> pieces_;
  uint64_t first_ = 0;  // the position of the first piece
  uint64_t end_ = 0;
  bool ended_ = false;
  bool is_announced_ = false;
  std::vector<uint64_t> readers_;  // positions; kGone: removed
};

// The writing end of a pipe.
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
