#include "core/util/varint.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace zsetd {
namespace {

constexpr int kBitsPerByte = 7;
constexpr uint8_t kMoreFollows = 0x80;

// Reads bytes from `first` on in steps of +1 or -1.
LengthMark Read(const char* first, int step) {
  LengthMark mark;
  uint8_t byte;
  do {
    byte = static_cast<uint8_t>(*first);
    mark.length |= size_t{byte & (kMoreFollows - 1u)} << (kBitsPerByte * mark.bytes);
    ++mark.bytes;
    first += step;
  } while (byte & kMoreFollows);
  return mark;
}

}  // namespace

size_t LengthMarkBytes(size_t length) {
  const int bits = std::max<int>(std::bit_width(length), 1);
  return (bits + kBitsPerByte - 1) / kBitsPerByte;
}

char* WriteLengthForward(char* at, size_t length) {
  for (; length >= kMoreFollows; length >>= kBitsPerByte) {
    *at++ = static_cast<char>(length | kMoreFollows);
  }
  *at++ = static_cast<char>(length);
  return at;
}

char* WriteLengthBackward(char* at, size_t length) {
  char* const end = WriteLengthForward(at, length);
  std::reverse(at, end);
  return end;
}

LengthMark ReadLengthForward(const char* at) { return Read(at, 1); }

LengthMark ReadLengthBackward(const char* end) { return Read(end - 1, -1); }

}  // namespace zsetd
