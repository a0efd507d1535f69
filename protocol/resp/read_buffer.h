#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace zsetd {

// The bytes of one connection that have arrived and were not taken yet, in one piece.
//
//    0        taken_       arrived_      capacity_
//    |         |  unread()  |   Space()   |
//
// Memory use is at most four times the unread bytes plus 64 KB, and at most the needed bytes plus
// 32 KB if their number is known. Each byte is moved a constant number of times on average, for any
// order of arrivals.
class ReadBuffer {
 public:
  static constexpr size_t kLeastSpace = 16u << 10;

  std::string_view unread() const { return {bytes_.get() + taken_, arrived_ - taken_}; }
  size_t capacity() const { return capacity_; }

  // Called with the old and the new address of the unread bytes, while both are allocated.
  using Moved = std::function<void(const char* from, const char* to)>;

  // Returns at least kLeastSpace bytes to read into. Moves the unread bytes or frees memory if
  // necessary. `needed` is the number of unread bytes with which the reader takes all of them, such
  // as up to the end of a long word; 0 if unknown. It may be too small, which costs a move, if it
  // is at least a quarter more than the unread bytes.
  std::span<char> Space(size_t needed, const Moved& moved);

  // Frees the memory that the unread bytes do not need. O(unread bytes).
  void Shrink(const Moved& moved);

  void Arrived(size_t count) { arrived_ += count; }  // into Space(), at its front
  void Take(size_t count) { taken_ += count; }       // from unread(), at its front

 private:
  void MoveToFront(const Moved& moved);
  void Reallocate(size_t capacity, const Moved& moved);

  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t taken_ = 0;
  size_t arrived_ = 0;
};

}  // namespace zsetd
