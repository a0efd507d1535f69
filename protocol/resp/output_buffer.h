#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/text/short_copy.h"

namespace zsetd {

// Bytes to be sent. They are added at the end and removed at the front. Truncate() removes a
// partial reply at the end.
//
//   [ full piece | full piece | ... | last piece, growing → ]
//     ↑ dropped so far
//
// A short buffer is one piece that doubles. From 16 KB on, a full piece is kept and another one is
// allocated. So a reply of hundreds of megabytes is not copied as it grows, and its memory is freed
// as it is sent.
//
// Unlike in a std::string, new bytes are not filled with zeros first.
//
// The result of Extend() is valid until the contents grow again.
//
// Invariant: after the last byte there is room for kSlack more, unless nothing is allocated.
class OutputBuffer {
 public:
  // The caller of Extend() may write this many bytes beyond its result; they are discarded.
  static constexpr size_t kSlack = 16;

  OutputBuffer() = default;
  OutputBuffer(OutputBuffer&& other) noexcept { Swap(other); }
  OutputBuffer& operator=(OutputBuffer&& other) noexcept {
    OutputBuffer(std::move(other)).Swap(*this);
    return *this;
  }

  size_t size() const { return full_bytes_ + size_; }
  bool empty() const { return size() == 0; }
  size_t capacity() const { return full_capacity_ + capacity_; }  // allocated

  char At(size_t place) const;  // O(1) in the last piece, else O(pieces)

  // Returns all bytes in one piece; several pieces are joined first, in O(bytes). For short
  // contents. Valid until the contents change.
  std::string_view view();

  // Fills `pieces` with views of the first pieces and returns their number. If it is less than the
  // size of `pieces`, they are the whole contents.
  size_t Pieces(std::span<std::string_view> pieces) const;

  // Extends the contents and returns the address of the new bytes, which are contiguous and
  // uninitialized. O(bytes), amortized.
  char* Extend(size_t bytes) {
    if (capacity_ < size_ + bytes + kSlack) Grow(bytes);
    char* at = bytes_.get() + size_;
    size_ += bytes;
    return at;
  }

  // Appends bytes, which are not a part of this buffer.
  void Append(std::string_view bytes) { CopyBytes(Extend(bytes.size()), bytes); }

  // Appends the contents of `other` and leaves it empty. Precondition: nothing was dropped from
  // `other`. O(pieces).
  void Take(OutputBuffer& other);

  // Removes the bytes after the first `size`. Precondition: `size` is at most the present size.
  // Bytes that existed at the last Drop() must not be removed.
  void Truncate(size_t size) {
    if (size < full_bytes_) Reopen(size);
    size_ = size - full_bytes_;
  }

  // Truncates the buffer to end at `end`, a place in the last piece.
  void EndAt(const char* end) { size_ = end - bytes_.get(); }

  // Removes bytes at the front and frees empty pieces.
  void Drop(size_t bytes);

  // Removes all bytes, and keeps the allocation of the last piece.
  void Clear() {
    size_ = 0;
    if (full_bytes_ > 0) FreeFull();
  }

  void Swap(OutputBuffer& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(full_, other.full_);
    std::swap(first_, other.first_);
    std::swap(dropped_, other.dropped_);
    std::swap(full_bytes_, other.full_bytes_);
    std::swap(full_capacity_, other.full_capacity_);
  }

 private:
  struct Piece {
    std::unique_ptr<char[]> bytes;
    size_t size;
    size_t capacity;
  };

  void Grow(size_t bytes);
  void CloseLast();
  void Reopen(size_t size);
  void FreeFull();
  std::string_view Rest(size_t index) const;

  std::unique_ptr<char[]> bytes_;  // the last piece
  size_t size_ = 0;
  size_t capacity_ = 0;

  std::vector<Piece> full_;  // the pieces before it; those before `first_` are freed
  size_t first_ = 0;
  size_t dropped_ = 0;     // bytes of the first
  size_t full_bytes_ = 0;  // in them, without the dropped bytes
  size_t full_capacity_ = 0;
};

}  // namespace zsetd
