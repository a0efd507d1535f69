#include "core/numeral.h"

#include <charconv>

namespace zsetd {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

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
  for (char* at = out + digits; at != out; number /= 10) *--at = char('0' + number % 10);
  return out + digits;
}

}  // namespace zsetd
