// CRC-16/XMODEM: polynomial 0x1021, most significant bit first, no final inversion. The bits of a
// text are the coefficients of a polynomial over GF(2), and the checksum is
//
//   text * x^16 mod P,    P = x^16 + x^12 + x^5 + 1
//
// Processors with carry-less multiplication compute it with two multiplications for a text of up to
// 16 bytes, and two more for each further 16 bytes: Gopal et al. 2009, "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction". Others look up several bytes at a time:
// Kounavis and Berry 2005, "A systematic approach to building high performance, software-based, CRC
// generators". The test compares both with Boost.CRC, which handles one byte at a time.
#include "core/hashing/crc16.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#include <wmmintrin.h>
#endif

namespace zsetd {
namespace {

constexpr unsigned kPolynomial = 0x1021;  // without x^16

constexpr size_t kMostAtOnce = 8;

// The checksums of each byte, followed by 0 .. 7 zero bytes.
using Tables = std::array<std::array<uint16_t, 256>, kMostAtOnce>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 0x8000) != 0 ? (crc << 1) ^ kPolynomial : crc << 1;
    }
    tables[0][byte] = static_cast<uint16_t>(crc);
  }
  for (size_t zeros = 1; zeros < kMostAtOnce; ++zeros) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      const uint16_t before = tables[zeros - 1][byte];
      tables[zeros][byte] = static_cast<uint16_t>(before << 8) ^ tables[0][before >> 8];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

// The checksum after `count` further bytes.
template <size_t count>
uint16_t Add(uint16_t crc, const char* bytes) {
  static_assert(count <= kMostAtOnce);
  uint16_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    uint8_t byte = static_cast<uint8_t>(bytes[i]);
    if (i == 0) byte ^= crc >> 8;
    if (i == 1) byte ^= crc & 0xff;
    sum ^= kTables[count - 1 - i][byte];
  }
  return count == 1 ? static_cast<uint16_t>(sum ^ (crc << 8)) : sum;
}

}  // namespace

uint16_t Crc16ByTables(std::string_view bytes) {
  uint16_t crc = 0;
  const char* at = bytes.data();
  size_t rest = bytes.size();
  for (; rest >= 8; rest -= 8, at += 8) crc = Add<8>(crc, at);
  if ((rest & 4) != 0) crc = Add<4>(crc, at), at += 4;
  if ((rest & 2) != 0) crc = Add<2>(crc, at), at += 2;
  return (rest & 1) != 0 ? Add<1>(crc, at) : crc;
}

#if defined(__x86_64__)

namespace {

// x^exponent mod P.
constexpr uint64_t PowerOfX(int exponent) {
  uint32_t power = 1;
  for (int i = 0; i < exponent; ++i) {
    power <<= 1;
    if ((power & 0x10000) != 0) power ^= 0x10000 | kPolynomial;
  }
  return power;
}

// x^80 / P, without its term x^64.
constexpr uint64_t Reciprocal() {
  uint64_t quotient = 0;
  uint32_t rest = kPolynomial;  // x^80 - x^64 * P is kPolynomial * x^64
  for (int i = 0; i < 64; ++i) {
    rest <<= 1;
    quotient <<= 1;
    if ((rest & 0x10000) != 0) {
      rest ^= 0x10000 | kPolynomial;
      quotient |= 1;
    }
  }
  return quotient;
}

template <class Word>
uint64_t BigEndian(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  if constexpr (sizeof(word) == sizeof(uint64_t)) return __builtin_bswap64(word);
  return __builtin_bswap32(word);
}

// 128 coefficients: `high` * x^64 + `low`.
struct Coefficients {
  uint64_t high;
  uint64_t low;
};

// The polynomial of at most 16 bytes. Long words may overlap, but nothing else is read.
inline Coefficients FewBytes(const char* bytes, size_t count) {
  constexpr unsigned kBits = 8;
  if (count >= 8) [[likely]] {
    const uint64_t first = BigEndian<uint64_t>(bytes);
    const uint64_t high = count == 8 ? 0 : first >> (kBits * (16 - count));
    return {high, BigEndian<uint64_t>(bytes + count - 8)};
  }
  if (count >= 4) {
    const uint64_t first = BigEndian<uint32_t>(bytes) << (kBits * (count - 4));
    return {0, first | BigEndian<uint32_t>(bytes + count - 4)};
  }
  uint64_t low = 0;
  for (size_t i = 0; i < count; ++i) low = low << kBits | static_cast<uint8_t>(bytes[i]);
  return {0, low};
}

// Returns text * x^16 mod P.
__attribute__((target("pclmul"))) uint16_t Remainder(Coefficients text) {
  // text * x^16 is `top` + low * x^16, of 80 coefficients.
  const __m128i factors = _mm_set_epi64x(Reciprocal(), PowerOfX(80));
  const __m128i top = _mm_clmulepi64_si128(_mm_cvtsi64_si128(text.high), factors, 0x00);
  // Barrett reduction: the quotient by P, from the coefficients from x^16 on.
  const __m128i upper = _mm_xor_si128(_mm_srli_si128(top, 2), _mm_cvtsi64_si128(text.low));
  const __m128i scaled = _mm_clmulepi64_si128(upper, factors, 0x10);
  const auto quotient = static_cast<uint32_t>(
      _mm_cvtsi128_si32(_mm_xor_si128(_mm_unpackhi_epi64(scaled, scaled), upper)));
  // The low 16 coefficients of the remainder; x^16 of P does not concern them.
  const auto below = static_cast<uint32_t>(_mm_cvtsi128_si32(top));
  return static_cast<uint16_t>(below ^ quotient ^ quotient << 5 ^ quotient << 12);
}

// Returns a text of up to 128 coefficients with the same remainder as `bytes`, of which there are
// more than 16.
__attribute__((target("pclmul"))) Coefficients Fold(std::string_view bytes) {
  constexpr size_t kChunk = 16;
  const __m128i powers = _mm_set_epi64x(PowerOfX(192), PowerOfX(128));
  const size_t begin = (bytes.size() - 1) % kChunk + 1;
  Coefficients text = FewBytes(bytes.data(), begin);
  for (size_t at = begin; at < bytes.size(); at += kChunk) {
    // text * x^128 + the next bytes
    const __m128i before = _mm_set_epi64x(text.high, text.low);
    const __m128i product = _mm_xor_si128(_mm_clmulepi64_si128(before, powers, 0x11),
                                          _mm_clmulepi64_si128(before, powers, 0x00));
    text.high = BigEndian<uint64_t>(bytes.data() + at) ^
                _mm_cvtsi128_si64(_mm_unpackhi_epi64(product, product));
    text.low = BigEndian<uint64_t>(bytes.data() + at + 8) ^ _mm_cvtsi128_si64(product);
  }
  return text;
}

}  // namespace

const bool has_carryless_multiplication = __builtin_cpu_supports("pclmul") != 0;

__attribute__((target("pclmul"))) uint16_t Crc16ByMultiplication(std::string_view bytes) {
  if (bytes.size() <= 16) [[likely]]
    return Remainder(FewBytes(bytes.data(), bytes.size()));
  return Remainder(Fold(bytes));
}

#endif

}  // namespace zsetd
