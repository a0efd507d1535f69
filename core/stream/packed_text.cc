#include "core/stream/packed_text.h"

#include <cassert>
#include <cstdint>
#include <cstring>

#include "core/util/hex_digits.h"
#include "core/util/numeral.h"
#include "core/util/packed_integer.h"
#include "core/util/short_compare.h"
#include "core/util/varint.h"

namespace zsetd {
namespace {

constexpr uint8_t kSmallNumber = 64;
constexpr uint8_t kMediumNumber = 128;
constexpr uint8_t kNumber = 192;
constexpr uint8_t kNegative = 200;
constexpr uint8_t kLongString = internal::kLongPackedText;

constexpr uint8_t kHexDigits = internal::kPackedHexDigits;
constexpr size_t kFewestHexDigits = internal::kFewestHexDigits;
static_assert(kFewestHexDigits >= kLeastHexDigits);

constexpr size_t kMostMediumNumber = (1 << 14) - 1;

char* WriteWide(char* at, uint8_t form, uint64_t number) {
  const int width = PackedWidth(number);
  *at++ = static_cast<char>(form + width - 1);
  StorePacked(at, width, number);
  return at + width;
}

char* WriteNumber(char* at, uint64_t number) {
  if (number < kSmallNumber) {
    *at++ = static_cast<char>(kSmallNumber + number);
    return at;
  }
  if (number > kMostMediumNumber) return WriteWide(at, kNumber, number);
  *at++ = static_cast<char>(kMediumNumber + (number >> 8));
  *at++ = static_cast<char>(number);
  return at;
}

// Writes the text as hexadecimal digits, and returns its end; null if it has other characters, or
// if there is no form for its length.
char* WriteHexDigits(char* at, std::string_view text) {
  const size_t size = text.size();
  if (size % 2 != 0 || size < kFewestHexDigits || size > internal::kMostHexDigits) return nullptr;
  if (!PackHexDigits(text, at + 1)) return nullptr;
  *at = static_cast<char>(kHexDigits + (size - kFewestHexDigits) / 2);
  return at + 1 + size / 2;
}

uint8_t FormAt(const char* at) { return static_cast<uint8_t>(*at); }

// The width of a number in one of the wide forms.
int WidthOf(uint8_t form) { return (form - kNumber) % 8 + 1; }

}  // namespace

char* WritePackedText(char* at, std::string_view text) {
  uint64_t number = 0;
  if (ReadNumeral(text, kShortest, number)) return WriteNumber(at, number);
  const bool is_negative = text.size() > 1 && text[0] == '-' &&
                           ReadNumeral(text.substr(1), kShortest, number) && number > 0;
  if (is_negative) return WriteWide(at, kNegative, number);
  if (char* const end = WriteHexDigits(at, text)) return end;
  if (text.size() < kSmallNumber) {
    *at++ = static_cast<char>(text.size());
  } else {
    *at++ = static_cast<char>(kLongString);
    at = WriteVarintForward(at, text.size());
  }
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

const char* internal::SkipLongPackedText(const char* at) {
  const Varint length = ReadVarintForward(at + 1);
  return at + 1 + length.bytes + length.length;
}

std::string_view ReadPackedText(const char*& at, PackedTextDigits& digits) {
  const uint8_t form = FormAt(at++);
  const auto take = [&](size_t size) {
    at += size;
    return std::string_view(at - size, size);
  };
  if (form < kSmallNumber) return take(form);
  if (form == kLongString) {
    const Varint length = ReadVarintForward(at);
    at += length.bytes;
    return take(length.length);
  }
  if (form >= kHexDigits) {
    const size_t size = kFewestHexDigits + 2 * size_t{form - 0u - kHexDigits};
    UnpackHexDigits(at, size, digits.bytes);
    at += size / 2;
    return {digits.bytes, size};
  }
  uint64_t number = form - kSmallNumber;
  if (form >= kNumber) {
    const int width = WidthOf(form);
    number = LoadPacked(at, width);
    at += width;
  } else if (form >= kMediumNumber) {
    number = uint64_t{form - 0u - kMediumNumber} << 8 | static_cast<uint8_t>(*at++);
  }
  char* end = digits.bytes;
  if (form >= kNegative) *end++ = '-';
  end = WriteNumeral(end, number, kShortest);
  return {digits.bytes, static_cast<size_t>(end - digits.bytes)};
}

bool TakePackedText(const char*& at, std::string_view text) {
  const uint8_t form = FormAt(at);
  if (form >= kSmallNumber) {
    PackedTextDigits digits;
    return ReadPackedText(at, digits) == text;
  }
  if (form != text.size() || !SameBytes(at + 1, text)) return false;
  at += 1 + form;
  return true;
}

}  // namespace zsetd
