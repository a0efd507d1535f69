#include "protocol/rdb/crc64.h"

#include <array>

namespace zsetd {
namespace {

// David T. Jones, "An Improved 64-bit Cyclic Redundancy Check for Protein Sequences", 2009; its
// bits in the other order.
constexpr uint64_t kReflectedPolynomial = 0x95ac9329ac4bc9b5;

// What each byte makes of a remainder that it is the lowest byte of.
constexpr std::array<uint64_t, 256> MakeTable() {
  std::array<uint64_t, 256> table = {};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? kReflectedPolynomial : 0);
    table[byte] = rest;
  }
  return table;
}

constexpr std::array<uint64_t, 256> kTable = MakeTable();

}  // namespace

uint64_t Crc64(std::string_view bytes) {
  uint64_t rest = 0;
  for (const char byte : bytes)
    rest = kTable[(rest ^ static_cast<uint8_t>(byte)) & 0xff] ^ rest >> 8;
  return rest;
}

}  // namespace zsetd
