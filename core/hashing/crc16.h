#pragma once

#include <cstdint>
#include <string_view>

namespace zsetd {

// CRC-16/XMODEM of the bytes. O(length).
uint16_t Crc16ByTables(std::string_view bytes);

#if defined(__x86_64__)

// Whether the processor can multiply polynomials. False before static objects are initialized.
extern const bool has_carryless_multiplication;

// Like Crc16ByTables(), but takes about a third of the instructions. Only if
// has_carryless_multiplication.
uint16_t Crc16ByMultiplication(std::string_view bytes);

#endif

inline uint16_t Crc16(std::string_view bytes) {
#if defined(__x86_64__)
  if (has_carryless_multiplication) [[likely]]
    return Crc16ByMultiplication(bytes);
#endif
  return Crc16ByTables(bytes);
}

}  // namespace zsetd
