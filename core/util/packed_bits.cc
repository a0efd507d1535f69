#include "core/util/packed_bits.h"

#include <algorithm>

#include "core/util/packed_integer.h"

namespace zsetd {
namespace {

// Bits are moved in chunks of whole bytes, which are stored without reading neighbouring bytes that
// have just been written.
constexpr size_t kChunkBytes = 7;
constexpr size_t kChunkBits = 8 * kChunkBytes;

// Moves the bits that end at `end` up to `to_end`, the last ones first. Also copies the bits after
// them in their new last byte, so that all chunks except one are whole bytes.
void MoveUp(char* array, size_t end, size_t to_end, size_t count) {
  const size_t by = to_end - end, tail = (8 - to_end % 8) % 8;
  size_t to = to_end + tail;
  for (count += tail; count >= kChunkBits; count -= kChunkBits) {
    to -= kChunkBits;
    StorePacked(array + to / 8, kChunkBytes, LoadBits(array, to - by, kChunkBits));
  }
  if (count == 0) return;
  to -= count;
  StoreBits(array, to, count, LoadBits(array, to - by, count));
}

void MoveDown(char* array, size_t from, size_t to, size_t count) {
  const size_t by = from - to;
  const auto copy = [&](size_t bits) {
    if (bits > 0) StoreBits(array, to, bits, LoadBits(array, to + by, bits));
    to += bits;
    count -= bits;
  };
  copy(std::min(count, (8 - to % 8) % 8));
  for (; count >= kChunkBits; count -= kChunkBits, to += kChunkBits) {
    StorePacked(array + to / 8, kChunkBytes, LoadBits(array, to + by, kChunkBits));
  }
  copy(count);
}

}  // namespace

void MoveBits(char* array, size_t from, size_t to, size_t count) {
  if (count == 0) return;
  if (from < to) return MoveUp(array, from + count, to + count, count);
  if (from > to) MoveDown(array, from, to, count);
}

}  // namespace zsetd
