#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace zsetd {

// The maximum size for CopyShort().
constexpr size_t kShortBytes = 64;

namespace internal {

// Copies `size` bytes, which are from kStep to 2 * kStep, as two steps that may overlap.
template <size_t kStep>
void CopyTwice(char* to, const char* from, size_t size) {
  char ends[2][kStep];
  std::memcpy(ends[0], from, kStep);
  std::memcpy(ends[1], from + size - kStep, kStep);
  std::memcpy(to, ends[0], kStep);
  std::memcpy(to + size - kStep, ends[1], kStep);
}

}  // namespace internal

// Copies up to kShortBytes in a few instructions, without a call of memcpy. Returns the end of the
// copy.
inline char* CopyShort(char* to, const char* from, size_t size) {
  if (size > 32) {
    internal::CopyTwice<32>(to, from, size);
  } else if (size >= 16) {
    internal::CopyTwice<16>(to, from, size);
  } else if (size >= 8) {
    internal::CopyTwice<8>(to, from, size);
  } else if (size >= 4) {
    internal::CopyTwice<4>(to, from, size);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
  return to + size;
}

// Copies any number of bytes; optimized for few.
inline char* CopyBytes(char* to, std::string_view bytes) {
  if (bytes.size() <= kShortBytes) return CopyShort(to, bytes.data(), bytes.size());
  std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

}  // namespace zsetd
