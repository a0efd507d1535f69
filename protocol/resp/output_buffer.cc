#include "protocol/resp/output_buffer.h"

#include <algorithm>
#include <cstring>

namespace zsetd {
namespace {

constexpr size_t kLeastCapacity = 64;

// A full piece of at most this size is copied into a larger one; a larger piece is kept. So a byte
// is copied about ten times at most, and at least a quarter of every piece is in use.
constexpr size_t kMostCopied = 16u << 10;
constexpr size_t kPieceBytes = 64u << 10;  // of later pieces; larger for a long string

}  // namespace

void OutputBuffer::Grow(size_t bytes) {
  if (size_ > kMostCopied) CloseLast();
  const size_t usual = full_bytes_ > 0 ? kPieceBytes : std::max(kLeastCapacity, 2 * capacity_);
  const size_t capacity = std::max(usual, size_ + bytes + kSlack);
  auto grown = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(grown.get(), bytes_.get(), size_);
  bytes_ = std::move(grown);
  capacity_ = capacity;
}

void OutputBuffer::CloseLast() {
  if (size_ == 0) return;
  full_bytes_ += size_;
  full_capacity_ += capacity_;
  full_.push_back({std::move(bytes_), std::exchange(size_, 0), std::exchange(capacity_, 0)});
}

// Makes the piece that holds the byte at `size` the last piece again.
void OutputBuffer::Reopen(size_t size) {
  while (size < full_bytes_) {
    Piece& piece = full_.back();
    assert(full_.size() > first_ + 1 || dropped_ == 0);
    full_bytes_ -= piece.size;
    full_capacity_ -= piece.capacity;
    bytes_ = std::move(piece.bytes);
    size_ = piece.size;
    capacity_ = piece.capacity;
    full_.pop_back();
  }
}

void OutputBuffer::FreeFull() {
  full_.clear();
  first_ = dropped_ = full_bytes_ = full_capacity_ = 0;
}

// The bytes of a full piece that were not dropped.
std::string_view OutputBuffer::Rest(size_t index) const {
  const std::string_view whole(full_[index].bytes.get(), full_[index].size);
  return index == first_ ? whole.substr(dropped_) : whole;
}

char OutputBuffer::At(size_t place) const {
  if (place >= full_bytes_) return bytes_[place - full_bytes_];
  size_t index = first_;
  for (; place >= Rest(index).size(); ++index) place -= Rest(index).size();
  return Rest(index)[place];
}

std::string_view OutputBuffer::view() {
  if (full_bytes_ > 0) {
    OutputBuffer joined;
    char* to = joined.Extend(size());
    for (size_t index = first_; index < full_.size(); ++index) {
      to = std::ranges::copy(Rest(index), to).out;
    }
    if (size_ > 0) std::memcpy(to, bytes_.get(), size_);
    *this = std::move(joined);
  }
  return {bytes_.get(), size_};
}

size_t OutputBuffer::Pieces(std::span<std::string_view> pieces) const {
  size_t count = 0;
  for (size_t index = first_; index < full_.size() && count < pieces.size(); ++index) {
    pieces[count++] = Rest(index);
  }
  if (size_ > 0 && count < pieces.size()) pieces[count++] = {bytes_.get(), size_};
  return count;
}

void OutputBuffer::Take(OutputBuffer& other) {
  if (other.full_bytes_ == 0) {
    Append({other.bytes_.get(), other.size_});
    return other.Clear();
  }
  assert(other.dropped_ == 0);
  CloseLast();
  other.CloseLast();
  for (size_t index = other.first_; index < other.full_.size(); ++index) {
    full_.push_back(std::move(other.full_[index]));
  }
  full_bytes_ += other.full_bytes_;
  full_capacity_ += other.full_capacity_;
  other.FreeFull();
}

void OutputBuffer::Drop(size_t bytes) {
  assert(bytes <= size());
  if (bytes == size()) return Clear();
  if (bytes >= full_bytes_) CloseLast();
  full_bytes_ -= bytes;
  dropped_ += bytes;
  while (dropped_ >= full_[first_].size) {
    Piece& gone = full_[first_++];
    dropped_ -= gone.size;
    full_capacity_ -= gone.capacity;
    gone.bytes.reset();
  }
}

}  // namespace zsetd
