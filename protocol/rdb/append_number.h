#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace zsetd {

// Appends the lowest `size` bytes of the number, the lowest first.
inline void AppendLittleEndian(uint64_t number, size_t size, std::string& out) {
  for (size_t i = 0; i < size; ++i) out += static_cast<char>(number >> 8 * i);
}

// Like AppendLittleEndian(), but the highest byte first.
inline void AppendBigEndian(uint64_t number, size_t size, std::string& out) {
  for (size_t i = size; i > 0; --i) out += static_cast<char>(number >> 8 * (i - 1));
}

}  // namespace zsetd
