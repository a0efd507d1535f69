#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

namespace zsetd {

// Unsigned integers of 0 to 8 whole bytes, the lowest byte first, at any address.
//
// A load reads the eight bytes that end where the integer ends, for any width:
//
//      at + width - 8 ............ at ...... at + width
//      [ bytes of someone else's  | integer ]
//
// So it takes one load and one shift, without a branch on the width, and never reads past the end.
// There must be eight readable bytes in front of the first integer.
//
// A store writes only the bytes of the integer. Merging it with neighbouring bytes would read bytes
// that the previous store has just written in part, which stalls the processor.
static_assert(std::endian::native == std::endian::little, "packed integers are read in place");

// The number of bytes that this many bits, or `value`, need.
constexpr int BytesForBits(int bits) { return (bits + 7) / 8; }
constexpr int PackedWidth(uint64_t value) { return BytesForBits(std::bit_width(value)); }

// The largest integer of that width.
constexpr uint64_t PackedMax(int width) {
  return width == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * width);
}

namespace internal {

// Stores the first bytes and the last bytes, which may overlap.
template <class Word>
void StoreTwice(char* at, int width, uint64_t value) {
  const int rest = width - static_cast<int>(sizeof(Word));
  const Word words[2] = {static_cast<Word>(value), static_cast<Word>(value >> 8 * rest)};
  std::memcpy(at, &words[0], sizeof(Word));
  std::memcpy(at + rest, &words[1], sizeof(Word));
}

}  // namespace internal

inline uint64_t LoadPacked(const char* at, int width) {
  assert(0 <= width && width <= 8);
  uint64_t word;
  std::memcpy(&word, at + width - 8, sizeof(word));
  return width == 0 ? 0 : word >> (64 - 8 * width);
}

inline void StorePacked(char* at, int width, uint64_t value) {
  assert(0 <= width && width <= 8);
  if (width >= 4) return internal::StoreTwice<uint32_t>(at, width, value);
  if (width >= 2) return internal::StoreTwice<uint16_t>(at, width, value);
  if (width == 1) *at = static_cast<char>(value);
}

}  // namespace zsetd
