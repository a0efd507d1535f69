#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zsetd {

// Decimal numerals that can be stored as a number and read back as the same digits. There are two
// kinds: the shortest spelling ("0", "7", "120"), and a spelling of a fixed number of digits,
// padded with zeros ("0007", "0120").
constexpr size_t kMaxNumeralDigits = 19;  // 10^19 - 1 fits into 64 bits
constexpr uint8_t kShortest = 0;          // as a number of digits: no padding

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number of digits at the end of `text`, at most kMaxNumeralDigits.
size_t TrailingDigits(std::string_view text);

// Parses a numeral with exactly `digits` digits or, for kShortest, in its shortest spelling.
// Returns false, and leaves `number` unchanged, if `text` is not such a numeral.
bool ReadNumeral(std::string_view text, uint8_t digits, uint64_t& number);
inline std::optional<uint64_t> ParseNumeral(std::string_view text, uint8_t digits) {
  uint64_t number = 0;
  return ReadNumeral(text, digits, number) ? std::optional(number) : std::nullopt;
}

// The number of digits of the numeral.
size_t NumeralSize(uint64_t number, uint8_t digits);

// Writes the numeral and returns its end. May write kNumeralRoom bytes even if the numeral is
// shorter.
constexpr size_t kNumeralRoom = 12;
char* WriteNumeral(char* out, uint64_t number, uint8_t digits);

}  // namespace zsetd
