#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "protocol/text/short_copy.h"

namespace zsetd {

// Bytes on their way out. They come at the end, and leave all at once or back to where a reply
// began.
//
// A std::string would do, but that what grows it is filled with zeros first, and its end kept
// marked: of a reply of a thousand short members that was a fifth. Here bytes are written where
// they stay.
//
// The results of data(), view() and Extend() are valid until the contents grow again.
//
// Invariant: behind the last byte there is room for kSlack more, unless nothing is allocated.
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

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return capacity_; }  // allocated
  const char* data() const { return bytes_.get(); }
  std::string_view view() const { return {data(), size_}; }

  // Extends the contents and returns where to write the new bytes: until then they are anything.
  // O(bytes), amortised, to copy what there is.
  char* Extend(size_t bytes) {
    if (capacity_ < size_ + bytes + kSlack) Grow(bytes);
    char* at = bytes_.get() + size_;
    size_ += bytes;
    return at;
  }

  // Not of its own bytes.
  void Append(std::string_view bytes) { CopyBytes(Extend(bytes.size()), bytes); }

  void Truncate(size_t size) { size_ = size; }                 // not to more than its size
  void EndAt(const char* end) { size_ = end - bytes_.get(); }  // the same, by place
  void Clear() { size_ = 0; }                                  // and keeps what is allocated

  void Swap(OutputBuffer& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void Grow(size_t bytes);

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace zsetd
