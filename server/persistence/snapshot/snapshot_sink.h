#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// The destination of the bytes of a snapshot: a file, or replicas. Computes the checksum. After the
// first error, all functions return that error.
class SnapshotSink {
 public:
  // Without a checksum, zeros are written instead (the setting `rdbchecksum`).
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
