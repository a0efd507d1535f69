#include "core/util/hex_digits.h"

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

namespace zsetd {
namespace {

static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");

constexpr uint64_t kInEachByte = 0x0101010101010101;

// The characters of eight values below 16, one in each byte. Adding 118 to a value sets the
// highest bit of its byte if the digit is a letter.
uint64_t CharactersOf(uint64_t values) {
  constexpr uint64_t kToLetters = 'a' - '0' - 10;
  const uint64_t letters = (values + 118 * kInEachByte) >> 7 & kInEachByte;
  return values + '0' * kInEachByte + letters * kToLetters;
}

// The values of eight characters. Characters that are no digits have arbitrary values.
uint64_t ValuesOf(uint64_t characters) {
  return (characters & 0x0F * kInEachByte) + 9 * (characters >> 6 & kInEachByte);
}

bool PackEight(const char* text, char* at) {
  uint64_t characters;
  std::memcpy(&characters, text, sizeof(characters));
  const uint64_t values = ValuesOf(characters);
  if ((values & 0xF0 * kInEachByte) != 0 || CharactersOf(values) != characters) return false;
  uint64_t pairs = (values << 4 | values >> 8) & 0x00FF00FF00FF00FF;
  pairs = (pairs | pairs >> 8) & 0x0000FFFF0000FFFF;
  const auto packed = static_cast<uint32_t>(pairs | pairs >> 16);
  std::memcpy(at, &packed, sizeof(packed));
  return true;
}

void UnpackEight(const char* at, char* out) {
  uint32_t packed;
  std::memcpy(&packed, at, sizeof(packed));
  uint64_t pairs = (packed | uint64_t{packed} << 16) & 0x0000FFFF0000FFFF;
  pairs = (pairs | pairs << 8) & 0x00FF00FF00FF00FF;
  const uint64_t characters = CharactersOf((pairs >> 4 | pairs << 8) & 0x0F * kInEachByte);
  std::memcpy(out, &characters, sizeof(characters));
}

}  // namespace

// The last eight digits may overlap with those before.
bool PackHexDigits(std::string_view text, char* at) {
  assert(text.size() >= kLeastHexDigits && text.size() % 2 == 0);
  const size_t last = text.size() - 8;
  for (size_t i = 0; i < last; i += 8) {
    if (!PackEight(text.data() + i, at + i / 2)) return false;
  }
  return PackEight(text.data() + last, at + last / 2);
}

void UnpackHexDigits(const char* at, size_t digits, char* out) {
  assert(digits >= kLeastHexDigits && digits % 2 == 0);
  const size_t last = digits - 8;
  for (size_t i = 0; i < last; i += 8) UnpackEight(at + i / 2, out + i);
  UnpackEight(at + last / 2, out + last);
}

}  // namespace zsetd
