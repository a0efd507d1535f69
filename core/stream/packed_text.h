#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zsetd {

// A byte string in a block of a stream. Decimal numbers in their shortest spelling are stored as
// numbers, and hexadecimal digits as two to a byte (core/util/hex_digits.h). The first byte states
// the form:
//
//     0 to 63      a string of this length follows
//    64 to 127     the number 0 to 63
//   128 to 191     a number of 14 bits: the low six bits here are the high ones, a byte follows
//   192 to 199     a number of 1 to 8 bytes follows
//   200 to 207     a negative number, whose absolute value of 1 to 8 bytes follows
//   208            a varint with the length of the string follows, then the string
//   209 to 255     16, 18, ... 108 hexadecimal digits follow
//
// Eight bytes in front of a packed text must be readable (core/util/packed_integer.h).

// The most bytes that a text of this size takes. A number never takes more than its digits and one.
constexpr size_t MostPackedTextBytes(size_t text_size) {
  return text_size + (text_size < 64 ? 1 : 11);
}

// Writes the text at `at` and returns its end. O(size).
char* WritePackedText(char* at, std::string_view text);

namespace internal {

inline constexpr uint8_t kLongPackedText = 208;
inline constexpr uint8_t kPackedHexDigits = 209;
inline constexpr size_t kFewestHexDigits = 16;  // fewer are not worth the time
inline constexpr size_t kMostHexDigits = kFewestHexDigits + size_t{2} * (255 - kPackedHexDigits);

// The bytes of the packed texts by their first bytes; of long strings, those of the form.
inline constexpr auto kPackedTextBytes = [] {
  std::array<uint8_t, 256> bytes = {};
  for (size_t form = 0; form < bytes.size(); ++form) {
    const size_t more = form < 64                 ? form
                        : form < 128              ? 0
                        : form < 192              ? 1
                        : form < kLongPackedText  ? (form - 192) % 8 + 1
                        : form == kLongPackedText ? 0
                                                  : form - kPackedHexDigits + kFewestHexDigits / 2;
    bytes[form] = static_cast<uint8_t>(1 + more);
  }
  return bytes;
}();

const char* SkipLongPackedText(const char* at);

}  // namespace internal

// The end of the packed text at `at`. O(1).
inline const char* SkipPackedText(const char* at) {
  const auto form = static_cast<uint8_t>(*at);
  if (form == internal::kLongPackedText) [[unlikely]]
    return internal::SkipLongPackedText(at);
  return at + internal::kPackedTextBytes[form];
}

// Room for the digits of a number, or for hexadecimal digits, while they are read.
struct PackedTextDigits {
  char bytes[internal::kMostHexDigits + 4];
};

// Reads the text at `at`, moves `at` to its end, and returns the text. It views the block, or
// `digits`. O(1).
std::string_view ReadPackedText(const char*& at, PackedTextDigits& digits);

// Moves `at` to the end of the text there if it equals `text`. Returns whether it does. O(size).
bool TakePackedText(const char*& at, std::string_view text);

}  // namespace zsetd
