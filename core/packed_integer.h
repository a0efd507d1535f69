#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace zsetd {

// Unsigned integers of 0 to 8 whole bytes, the lowest byte first, at any address.
//
// Both functions touch the eight bytes that end where the integer ends, whatever its width:
//
//      at + width - 8 ............ at ...... at + width
//      [ bytes of someone else's  | integer ]
//
// so a load is one load and one shift, without a branch on the width, and never reads past the end.
// Whoever keeps integers like this leaves eight bytes in front of the first.
static_assert(std::endian::native == std::endian::little, "packed integers are read in place");

// The bytes that `value` needs.
constexpr int PackedWidth(uint64_t value) { return (std::bit_width(value) + 7) / 8; }

// The largest integer of that width.
constexpr uint64_t PackedMax(int width) {
  return width == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * width);
}

inline uint64_t LoadPacked(const char* at, int width) {
  uint64_t word;
  std::memcpy(&word, at + width - 8, sizeof(word));
  return width == 0 ? 0 : word >> (64 - 8 * width);
}

inline void StorePacked(char* at, int width, uint64_t value) {
  if (width == 0) return;
  const int others = 64 - 8 * width;
  uint64_t word;
  std::memcpy(&word, at + width - 8, sizeof(word));
  word = (word & ~(~uint64_t{0} << others)) | value << others;
  std::memcpy(at + width - 8, &word, sizeof(word));
}

}  // namespace zsetd
