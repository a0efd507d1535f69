#include "core/util/numeral.h"

#include <array>
#include <bit>
#include <cstring>

namespace zsetd {
namespace {

constexpr size_t kDigitsAtOnce = 8;
constexpr uint64_t kAfterThem = 100'000'000;

// The eight digits of a number below 10^8, the first in the lowest byte. Splits the number into
// halves, quarters and digits in all lanes of a word in parallel. The products are divisions by 100
// and by 10, which are exact for such small numbers.
uint64_t EightDigits(uint32_t number) {
  const uint64_t halves = number / 10000 | uint64_t{number % 10000} << 32;
  const uint64_t hundreds = halves * 10486 >> 20 & 0x0000007F'0000007F;
  const uint64_t quarters = hundreds | (halves - hundreds * 100) << 16;
  const uint64_t tens = quarters * 103 >> 10 & 0x000F000F'000F000F;
  const uint64_t digits = tens | (quarters - tens * 10) << 8;
  return digits | 0x3030303030303030;
}

// Reads the digits of `text`, up to eight, as EightDigits() returns them, with zeros before fewer
// digits. Overlapping loads replace a copy of unknown size.
uint64_t LoadDigits(std::string_view text) {
  constexpr uint64_t kZeros = 0x3030303030303030;
  const auto load = [&]<class Word>(size_t at, Word) {
    Word word;
    std::memcpy(&word, text.data() + at, sizeof(word));
    return uint64_t{word};
  };
  const size_t size = text.size(), missing = 8 * (8 - size);
  if (size == 8) return load(0, uint64_t{});
  if (size >= 4) {
    const uint64_t first = load(0, uint32_t{}) << missing;
    return first | load(size - 4, uint32_t{}) << 32 | kZeros >> (64 - missing);
  }
  uint64_t digits = kZeros;
  for (const char c : text) digits = digits >> 8 | uint64_t{static_cast<unsigned char>(c)} << 56;
  return digits;
}

// Whether all eight bytes are digits. '0' to '9' are 0x30 to 0x39: adding 6 keeps their upper half.
bool AreDigits(uint64_t text) {
  constexpr uint64_t kUpper = 0xF0F0F0F0F0F0F0F0, kSixes = 0x0606060606060606;
  return ((text & kUpper) | ((text + kSixes) & kUpper) >> 4) == 0x3333333333333333;
}

// The number of eight digits, the inverse of EightDigits(): adds neighbours in all lanes of a word
// in parallel, to pairs, to fours and to the whole.
uint64_t NumberOf(uint64_t digits) {
  const uint64_t values = digits & 0x0F0F0F0F0F0F0F0F;
  const uint64_t pairs = values * (1 + (10 << 8)) >> 8 & 0x00FF00FF00FF00FF;
  const uint64_t fours = pairs * (1 + (100 << 16)) >> 16 & 0x0000FFFF0000FFFF;
  return fours * (1 + (uint64_t{10000} << 32)) >> 32;
}

// Writes kNumeralRoom zeros and returns the end of the first `digits` of them. Most padding is
// zeros.
char* WriteZeros(char* out, int digits) {
  static_assert(kMaxNumeralDigits - kDigitsAtOnce <= kNumeralRoom);
  std::memcpy(out, "000000000000", kNumeralRoom);
  return out + digits;
}

// Writes the number with `digits` digits, which is not 0. May write up to kNumeralRoom bytes if
// `digits` is less.
char* WritePadded(char* out, uint64_t number, int digits) {
  if (digits > static_cast<int>(kDigitsAtOnce)) {
    const uint64_t head = number / kAfterThem;
    out = head == 0 ? WriteZeros(out, digits - kDigitsAtOnce)
                    : WritePadded(out, head, digits - kDigitsAtOnce);
    number -= head * kAfterThem;
    digits = kDigitsAtOnce;
  }
  static_assert(std::endian::native == std::endian::little);
  const uint64_t text = EightDigits(static_cast<uint32_t>(number)) >> 8 * (kDigitsAtOnce - digits);
  std::memcpy(out, &text, sizeof(text));
  return out + digits;
}

constexpr auto kPowersOfTen = [] {
  std::array<uint64_t, kMaxNumeralDigits> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// The number of bits gives the number of digits, or one less: 1233 / 4096 is slightly below the
// decimal logarithm of 2.
size_t CountDigits(uint64_t number) {
  const size_t least = std::bit_width(number | 1) * 1233 >> 12;
  return least + (least < kPowersOfTen.size() && (number | 1) >= kPowersOfTen[least] ? 1 : 0);
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

bool ReadNumeral(std::string_view text, uint8_t digits, uint64_t& number) {
  if (text.empty() || text.size() > kMaxNumeralDigits) return false;
  if (digits == kShortest ? text[0] == '0' && text.size() > 1 : text.size() != digits) return false;
  uint64_t read = 0;
  for (size_t size = (text.size() - 1) % kDigitsAtOnce + 1; !text.empty(); size = kDigitsAtOnce) {
    const uint64_t eight = LoadDigits(text.substr(0, size));
    if (!AreDigits(eight)) return false;
    read = read * kAfterThem + NumberOf(eight);
    text.remove_prefix(size);
  }
  number = read;
  return true;
}

size_t NumeralSize(uint64_t number, uint8_t digits) {
  return digits == kShortest ? CountDigits(number) : digits;
}

char* WriteNumeral(char* out, uint64_t number, uint8_t digits) {
  return WritePadded(out, number, static_cast<int>(NumeralSize(number, digits)));
}

}  // namespace zsetd
