#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// Where the bytes of a snapshot go: into a file, or to replicas. They are summed on the way. After
// the first error everything returns that error.
class SnapshotSink {
 public:
  // Without a checksum there are zeros in its place (rdbchecksum).
  explicit SnapshotSink(bool with_checksum) : with_checksum_(with_checksum) {}
  SnapshotSink(const SnapshotSink&) = delete;
  virtual ~SnapshotSink() = default;

  absl::Status Write(std::string_view bytes);

  // Writes the checksum and completes the file.
  absl::Status Finish();

  uint64_t size() const { return size_; }  // bytes written

 private:
  virtual absl::Status Put(std::string_view bytes) = 0;
  virtual absl::Status Complete() = 0;

  const bool with_checksum_;
  uint64_t checksum_ = 0;
  uint64_t size_ = 0;
  absl::Status status_;  // the first error
};

}  // namespace zsetd
