#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/sorted_set/block/deadline_frame.h"
#include "core/util/packed_bits.h"
#include "core/util/packed_integer.h"

namespace zsetd {

// The deadlines of a block's elements, in their order, if the block has any:
//
//   base | width | d0 d1 d2 ...          packed by the frame, `width` bits each
//     6      1       bytes, the last of which may have bits left over
//
// A view without ownership. The number of elements is an argument, because the block stores it. The
// block's header precedes the column, as core/util/packed_bits.h and packed_integer.h require.
//
// Invariants: those of the frame; the frame holds all packed values. Unused bits are undefined.
class DeadlineColumn {
 public:
  explicit DeadlineColumn(char* at) : at_(at) {}

  // The bytes of a column.
  static size_t Bytes(const DeadlineFrame& frame, size_t count) {
    return kFrameBytes + (count * frame.width + 7) / 8;
  }
  size_t Bytes(size_t count) const { return kFrameBytes + (count * width() + 7) / 8; }

  DeadlineFrame frame() const {
    return {LoadPacked(at_, kBaseBytes), static_cast<uint8_t>(width())};
  }

  uint64_t Deadline(size_t i) const { return frame().Unpack(PackedAt(i)); }  // or kNoDeadline

  // The earliest from `first` to before `last`, or kNoDeadline. O(last - first).
  uint64_t Earliest(size_t first, size_t last) const;

  bool HasAny(size_t count) const;  // reads up to the first deadline

  // Writes a column. Precondition: there is room for its bytes.
  void Write(const DeadlineFrame& frame, std::span<const uint64_t> deadlines);

  // Precondition: the frame holds the deadline.
  void Set(size_t i, uint64_t deadline) {
    assert(frame().Holds(deadline));
    StoreBits(bits(), i * width(), width(), frame().Pack(deadline));
  }

  // Inserts an element without a deadline at `i` into a column of `count` elements. Precondition:
  // there is room.
  void Insert(size_t i, size_t count);

  // Erases the elements from `first` to before `last` from a column of `count` elements.
  void Erase(size_t first, size_t last, size_t count);

 private:
  static constexpr size_t kBaseBytes = 6;
  static constexpr size_t kFrameBytes = kBaseBytes + 1;

  int width() const { return at_[kBaseBytes]; }
  char* bits() const { return at_ + kFrameBytes; }
  uint64_t PackedAt(size_t i) const { return LoadBits(bits(), i * width(), width()); }

  char* at_;
};

}  // namespace zsetd
