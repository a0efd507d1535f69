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

// Reads a file ahead in pieces and computes the checksum of the bytes that the reader has consumed.
class FileSource : public ByteSource {
 public:
  // Called with the number of bytes read so far and the size of the file. If it returns false,
  // reading stops.
  using OnRead = std::function<bool(uint64_t bytes, uint64_t total)>;

  // `on_read` may be null.
  explicit FileSource(std::unique_ptr<ReadableFile> file, OnRead on_read = nullptr)
      : file_(std::move(file)), on_read_(std::move(on_read)) {}

  std::string_view Refill(size_t unread, size_t count) override;

  // The position in the file of a reader that has this many unread bytes.
  uint64_t OffsetWith(size_t unread) const { return before_ + filled_ - unread; }

  // The CRC64 of all bytes before that position.
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
  size_t filled_ = 0;    // bytes in the buffer
  size_t summed_ = 0;    // the part of `filled_` that is in the checksum
  uint64_t before_ = 0;  // bytes of the file before the buffer
  uint64_t checksum_ = 0;
  absl::Status status_;
};

}  // namespace zsetd
