#pragma once

#include <cstddef>
#include <string_view>

namespace zsetd {

// Hexadecimal digits in lower case, "0" to "9" and "a" to "f", as in identifiers and hashes, stored
// two to a byte. Their number is even, and at least kLeastHexDigits.
constexpr size_t kLeastHexDigits = 8;

// Writes the digits as text.size() / 2 bytes at `at`. Returns false if `text` has another
// character; the bytes are then undefined. Precondition: the size is such a number. O(size), or
// O(1) if one of the first eight characters is another.
bool PackHexDigits(std::string_view text, char* at);

// Writes this number of digits at `out`, from digits / 2 bytes at `at`. The inverse of
// PackHexDigits(). O(digits).
void UnpackHexDigits(const char* at, size_t digits, char* out);

}  // namespace zsetd
