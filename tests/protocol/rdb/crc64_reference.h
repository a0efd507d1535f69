#pragma once

#include <cstdint>
#include <string_view>

namespace zsetd {

// The definition of Crc64() as code: a bit a step, without tables.
inline uint64_t ReferenceCrc64(std::string_view bytes) {
  constexpr uint64_t kReflectedPolynomial = 0x95ac9329ac4bc9b5;
  uint64_t rest = 0;
  for (const char byte : bytes) {
    rest ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? kReflectedPolynomial : 0);
  }
  return rest;
}

}  // namespace zsetd
