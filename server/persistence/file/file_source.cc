#include "server/persistence/file/file_source.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "protocol/rdb/crc64.h"

namespace zsetd {

uint64_t FileSource::ChecksumWith(size_t unread) {
  assert(filled_ - unread >= summed_);
  const size_t taken = filled_ - unread;
  checksum_ = Crc64(std::string_view(buffer_).substr(summed_, taken - summed_), checksum_);
  summed_ = taken;
  return checksum_;
}

std::string_view FileSource::Refill(size_t unread, size_t count) {
  ChecksumWith(unread);
  const size_t taken = filled_ - unread;
  std::memmove(buffer_.data(), buffer_.data() + taken, unread);
  before_ += taken;
  filled_ = unread;
  summed_ = 0;
  Fill(count);
  return std::string_view(buffer_).substr(0, filled_);
}

// The buffer is never larger than the rest of the file. A large buffer is not kept.
void FileSource::Fill(size_t count) {
  const uint64_t end = before_ + filled_;
  const uint64_t left = file_->size() > end ? file_->size() - end : 0;
  const size_t possible = filled_ + static_cast<size_t>(left);
  const size_t wanted = std::max(std::min(count, possible), kPieceBytes);
  if (buffer_.size() != wanted) {
    buffer_.resize(wanted);
    buffer_.shrink_to_fit();
  }
  if (!status_.ok()) return;
  const auto read = file_->Read({buffer_.data() + filled_, buffer_.size() - filled_});
  if (!read.ok()) {
    status_ = read.status();
  } else {
    filled_ += *read;
    if (on_read_ && !on_read_(before_ + filled_, file_->size())) {
      status_ = absl::CancelledError("the load was canceled");
    }
  }
}

}  // namespace zsetd
