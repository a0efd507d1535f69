// Length lines, "*3\r\n" and "$12\r\n": two in three lines of a request.
//
// Nearly all have at most four digits and have been received completely. They are read here in one
// pass, with one check of the length. All others, including malformed ones, are left to
// RequestParser, which finds the end of the line first. bench/protocol/parse_bench measures this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zsetd {

constexpr size_t kMostUsualDigits = 4;
constexpr int64_t kMostUsualLength = 9999;

// Reads a length line that begins with `kind` from the front of `bytes`. Returns its size in bytes
// and sets `length`. Returns 0 if `bytes` do not begin with a usual length line.
inline size_t ReadLengthLine(std::string_view bytes, char kind, int64_t& length) {
  if (bytes.size() < 1 + kMostUsualDigits + 2 || bytes[0] != kind) return 0;
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

}  // namespace zsetd
