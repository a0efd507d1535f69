#include "core/util/varint.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace zsetd {
namespace {

constexpr int kBitsPerByte = 7;
constexpr uint8_t kMoreFollows = 0x80;

// Reads bytes from `first` on in steps of +1 or -1.
Varint Read(const char* first, int step) {
  Varint varint;
  uint8_t byte;
  do {
    byte = static_cast<uint8_t>(*first);
    varint.length |= size_t{byte & (kMoreFollows - 1u)} << (kBitsPerByte * varint.bytes);
    ++varint.bytes;
    first += step;
  } while (byte & kMoreFollows);
  return varint;
}

}  // namespace

size_t VarintBytes(size_t length) {
  const int bits = std::max<int>(std::bit_width(length), 1);
  return (bits + kBitsPerByte - 1) / kBitsPerByte;
}

char* WriteVarintForward(char* at, size_t length) {
  for (; length >= kMoreFollows; length >>= kBitsPerByte) {
    *at++ = static_cast<char>(length | kMoreFollows);
  }
  *at++ = static_cast<char>(length);
  return at;
}

char* WriteVarintBackward(char* at, size_t length) {
  char* const end = WriteVarintForward(at, length);
  std::reverse(at, end);
  return end;
}

Varint ReadVarintForward(const char* at) { return Read(at, 1); }

Varint ReadVarintBackward(const char* end) { return Read(end - 1, -1); }

}  // namespace zsetd
