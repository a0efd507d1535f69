#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace zsetd {

// Unsigned integers of 1 to 57 bits without gaps, at any address:
//
//   byte      0         1         2         3
//   bit   [ 0 . . . . . . . | 8 . . . . . . . | 16 . . . . . . | ... ]
//         [ first     | second    | third     | ... ]                 the lowest bit first
//
// A load or a store accesses the eight bytes that end where the integer ends, so it does not go
// beyond the last one. There must be eight bytes in front of the array that may be read and, during
// changes, rewritten unchanged.
//
// core/util/packed_integer.h has integers of whole bytes, which are faster.
static_assert(std::endian::native == std::endian::little, "packed bits are read in place");

constexpr int kMostPackedBits = 57;  // 64, less those of the first byte that precede the integer

namespace internal {

// The word that ends with the byte of the last bit, and the position of the integer in it.
struct BitsInWord {
  BitsInWord(size_t first, int bits)
      : byte(static_cast<ptrdiff_t>((first + bits - 1) / 8) - 7),
        shift(static_cast<int>(static_cast<ptrdiff_t>(first) - 8 * byte)) {
    assert(1 <= bits && bits <= kMostPackedBits);
  }

  ptrdiff_t byte;
  int shift;
};

}  // namespace internal

// The lowest `bits` bits, at least one.
constexpr uint64_t LowestBits(int bits) { return ~uint64_t{0} >> (64 - bits); }

// The integer of `bits` bits at bit `first` of the array.
inline uint64_t LoadBits(const char* array, size_t first, int bits) {
  const internal::BitsInWord place(first, bits);
  uint64_t word;
  std::memcpy(&word, array + place.byte, sizeof(word));
  return word >> place.shift & LowestBits(bits);
}

inline void StoreBits(char* array, size_t first, int bits, uint64_t value) {
  assert(value <= LowestBits(bits));
  const internal::BitsInWord place(first, bits);
  uint64_t word;
  std::memcpy(&word, array + place.byte, sizeof(word));
  word = (word & ~(LowestBits(bits) << place.shift)) | value << place.shift;
  std::memcpy(array + place.byte, &word, sizeof(word));
}

// Moves `count` bits from bit `from` to bit `to`; both ranges may overlap. The bits after the range
// at `to` in its last byte may change; no others do. O(count).
void MoveBits(char* array, size_t from, size_t to, size_t count);

// Writes integers one after another, from the first bit of an array on; faster than StoreBits,
// which reads the bytes just written. The array is complete once the writer is destroyed; the bits
// after the last integer in its byte become 0.
class BitWriter {
 public:
  explicit BitWriter(char* array) : at_(array) {}
  BitWriter(const BitWriter&) = delete;
  BitWriter& operator=(const BitWriter&) = delete;
  ~BitWriter() {
    for (; pending_bits_ > 0; pending_bits_ -= 8, pending_ >>= 8) {
      *at_++ = static_cast<char>(pending_);
    }
  }

  void Write(uint64_t value, int bits) {
    assert(1 <= bits && bits <= kMostPackedBits && value <= LowestBits(bits));
    if (bits > kHalf) {
      WriteHalf(value & LowestBits(kHalf), kHalf);
      value >>= kHalf;
      bits -= kHalf;
    }
    WriteHalf(value, bits);
  }

 private:
  static constexpr int kHalf = 32;

  void WriteHalf(uint64_t value, int bits) {
    pending_ |= value << pending_bits_;
    pending_bits_ += bits;
    if (pending_bits_ < kHalf) return;
    const auto lower = static_cast<uint32_t>(pending_);
    std::memcpy(at_, &lower, sizeof(lower));
    at_ += sizeof(lower);
    pending_ >>= kHalf;
    pending_bits_ -= kHalf;
  }

  char* at_;
  uint64_t pending_ = 0;
  int pending_bits_ = 0;  // less than kHalf between calls
};

}  // namespace zsetd
