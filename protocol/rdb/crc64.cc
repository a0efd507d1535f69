#include "protocol/rdb/crc64.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace zsetd {
namespace {

// David T. Jones, "An Improved 64-bit Cyclic Redundancy Check for Protein Sequences", 2009; its
// bits in the other order.
constexpr uint64_t kReflectedPolynomial = 0x95ac9329ac4bc9b5;

// Bytes taken in one step (Kounavis and Berry 2005, "A Systematic Approach to Building High
// Performance, Software-based, CRC Generators"): a CRC is linear, so the contribution of each byte
// is looked up independently of the others, and the results are added.
constexpr size_t kSlice = 16;

using Table = std::array<uint64_t, 256>;

// tables[n][byte] is the contribution of a byte to the remainder when n zero bytes follow it.
constexpr std::array<Table, kSlice> MakeTables() {
  std::array<Table, kSlice> tables = {};
  for (size_t byte = 0; byte < 256; ++byte) {
    uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? kReflectedPolynomial : 0);
    tables[0][byte] = rest;
  }
  for (size_t n = 1; n < kSlice; ++n) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint64_t rest = tables[n - 1][byte];
      tables[n][byte] = tables[0][rest & 0xff] ^ rest >> 8;
    }
  }
  return tables;
}

constexpr std::array<Table, kSlice> kTables = MakeTables();

uint64_t LoadLittleEndian(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// The contribution of the eight bytes of a word that `following` zero bytes follow.
uint64_t Contribution(uint64_t word, size_t following) {
  uint64_t sum = 0;
  for (size_t n = 0; n < 8; ++n) sum ^= kTables[following + 7 - n][word >> 8 * n & 0xff];
  return sum;
}

}  // namespace

uint64_t Crc64(std::string_view bytes, uint64_t before) {
  uint64_t rest = before;
  for (; bytes.size() >= kSlice; bytes.remove_prefix(kSlice)) {
    const uint64_t first = LoadLittleEndian(bytes.data()) ^ rest;
    rest = Contribution(first, 8) ^ Contribution(LoadLittleEndian(bytes.data() + 8), 0);
  }
  for (const char byte : bytes) {
    rest = kTables[0][(rest ^ static_cast<uint8_t>(byte)) & 0xff] ^ rest >> 8;
  }
  return rest;
}

}  // namespace zsetd
