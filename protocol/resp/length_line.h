// Length lines, "*3\r\n" and "$12\r\n": two in three lines of a request, and the first line of a
// reply with several parts.
//
// Nearly all of a request's lines have at most four digits and have been received completely. They
// are read here in one pass, with one check of the length. All others, including malformed ones,
// are left to RequestParser, which finds the end of the line first. Lengths below a hundred, the
// most common ones, take a path of their own in both directions. bench/protocol/parse_bench
// measures this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/text/number_text.h"

namespace zsetd {

constexpr size_t kMostUsualDigits = 4;
constexpr int64_t kMostUsualLength = 9999;

// Reads a length line that begins with `kind` from the front of `bytes`. Returns its size in bytes
// and sets `length`. Returns 0 if `bytes` do not begin with a usual length line.
inline size_t ReadLengthLine(std::string_view bytes, char kind, int64_t& length) {
  if (bytes.size() < 1 + kMostUsualDigits + 2 || bytes[0] != kind) return 0;
  const auto first = static_cast<unsigned char>(bytes[1] - '0');
  if (bytes[2] == '\r' && first <= 9) {
    length = first;
    return 4;
  }
  const auto second = static_cast<unsigned char>(bytes[2] - '0');
  if (bytes[3] == '\r' && first >= 1 && first <= 9 && second <= 9) {
    length = 10 * first + second;
    return 5;
  }
  size_t at = 1;
  int64_t value = 0;
  for (; bytes[at] != '\r'; ++at) {
    const auto digit = static_cast<unsigned char>(bytes[at] - '0');
    if (digit > 9 || at > kMostUsualDigits) return 0;
    value = 10 * value + digit;
  }
  if (at == 1 || (bytes[1] == '0' && at > 2)) return 0;  // no digits; "03"
  length = value;
  return at + 2;
}

// Writes a line's end and returns the address after it.
inline char* EndLine(char* out) {
  *out++ = '\r';
  *out++ = '\n';
  return out;
}

// Room for a line of WriteLengthLine().
constexpr size_t kLengthLineBytes = 1 + kNumberBytes + 2;

// Writes the length line and returns its end. `out` has kLengthLineBytes.
inline char* WriteLengthLine(char* out, char kind, int64_t length) {
  *out++ = kind;
  if (length < 0 || length >= 100) return EndLine(FormatInteger(length, out));
  if (length >= 10) *out++ = static_cast<char>('0' + length / 10);
  *out++ = static_cast<char>('0' + length % 10);
  return EndLine(out);
}

}  // namespace zsetd
