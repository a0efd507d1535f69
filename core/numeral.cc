#include "core/numeral.h"

#include <bit>
#include <charconv>
#include <cstring>

namespace zsetd {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr int kDigitsAtOnce = 8;
constexpr uint64_t kAfterThem = 100'000'000;

// The eight digits of a number below 10^8, the first in the lowest byte. Halves, quarters and
// digits are split off in all lanes of a word at once; the products are divisions by 100 and by 10
// that are exact for numbers so small.
uint64_t EightDigits(uint64_t number) {
  const uint64_t halves = number / 10000 | number % 10000 << 32;
  const uint64_t hundreds = halves * 10486 >> 20 & 0x0000007F'0000007F;
  const uint64_t quarters = hundreds | (halves - hundreds * 100) << 16;
  const uint64_t tens = quarters * 103 >> 10 & 0x000F000F'000F000F;
  const uint64_t digits = tens | (quarters - tens * 10) << 8;
  return digits | 0x3030303030303030;
}

// May write more bytes than `digits`, which is not 0, but not more than 8 or `digits`.
char* WritePadded(char* out, uint64_t number, int digits) {
  if (digits > kDigitsAtOnce) {
    out = WritePadded(out, number / kAfterThem, digits - kDigitsAtOnce);
    number %= kAfterThem;
    digits = kDigitsAtOnce;
  }
  static_assert(std::endian::native == std::endian::little);
  const uint64_t text = EightDigits(number) >> 8 * (kDigitsAtOnce - digits);
  std::memcpy(out, &text, sizeof(text));
  return out + digits;
}

}  // namespace

size_t TrailingDigits(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && count < kMaxNumeralDigits &&
         IsDigit(text[text.size() - 1 - count])) {
    ++count;
  }
  return count;
}

std::optional<uint64_t> ParseNumeral(std::string_view text, uint8_t digits) {
  if (text.empty() || text.size() > kMaxNumeralDigits) return std::nullopt;
  if (digits == kShortest ? text[0] == '0' && text.size() > 1 : text.size() != digits) {
    return std::nullopt;
  }
  uint64_t number = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

char* WriteNumeral(char* out, uint64_t number, uint8_t digits) {
  if (digits == kShortest) return std::to_chars(out, out + kMaxNumeralDigits + 1, number).ptr;
  return WritePadded(out, number, digits);
}

}  // namespace zsetd
