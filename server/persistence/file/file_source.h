#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/rdb/byte_cursor.h"
#include "server/persistence/file/file.h"

namespace zsetd {

// The bytes of a file, read ahead in pieces, and the checksum of those that have been taken.
class FileSource : public ByteSource {
 public:
  // Called with the number of bytes that have been read, and that the file has. If it returns false
  // the rest is not read.
  using OnRead = std::function<bool(uint64_t bytes, uint64_t total)>;

  // `on_read` may be null.
  explicit FileSource(std::unique_ptr<ReadableFile> file, OnRead on_read = nullptr)
      : file_(std::move(file)), on_read_(std::move(on_read)) {}

  std::string_view Refill(size_t unread, size_t count) override;

  // Where in the file the reader is that has this many bytes unread.
  uint64_t OffsetWith(size_t unread) const { return before_ + filled_ - unread; }

  // The CRC64 of all bytes before that.
  uint64_t ChecksumWith(size_t unread);

  uint64_t size() const { return file_->size(); }

  // The error of a failed read. The end of the file is not an error.
  const absl::Status& status() const { return status_; }

 private:
  static constexpr size_t kPieceBytes = 256u << 10;

  void Fill(size_t count);

  std::unique_ptr<ReadableFile> file_;
  const OnRead on_read_;
  std::string buffer_;
  size_t filled_ = 0;    // bytes of the buffer
  size_t summed_ = 0;    // of these, in the checksum
  uint64_t before_ = 0;  // bytes of the file before the buffer
  uint64_t checksum_ = 0;
  absl::Status status_;
};

}  // namespace zsetd
