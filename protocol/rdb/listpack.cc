// An element of a listpack consists of its encoding, its bytes, and the length of both, which is
// written so that it can be read backward:
//
//   0xxxxxxx            7-bit number               110xxxxx + 1   13-bit integer
//   10xxxxxx            string, up to 63 bytes     1110xxxx + 1   string, up to 4095
//   11110000 + 4        string, any length         1111001x       integers of 2, 3, 4, 8 bytes
#include <algorithm>
#include <optional>
#include <utility>

#include "protocol/rdb/append_number.h"
#include "protocol/rdb/byte_cursor.h"
#include "protocol/rdb/element_walk.h"
#include "protocol/rdb/packed_elements.h"
#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

constexpr size_t kListpackHeader = 6;
constexpr size_t kLongestListpackInteger = 20;  // bytes of text

constexpr uint8_t kLongString = 0xf0;
constexpr uint8_t kInt16 = 0xf1;
constexpr uint8_t kInt24 = 0xf2;
constexpr uint8_t kInt32 = 0xf3;
constexpr uint8_t kInt64 = 0xf4;
constexpr IntegerEncoding kListpackIntegers[] = {
    {kInt16, 2}, {kInt24, 3}, {kInt32, 4}, {kInt64, 8}};

// The number of bytes of an element's back length: seven bits each, with the limits that Redis
// uses.
size_t BackLengthBytes(size_t length) {
  if (length <= 127) return 1;
  if (length < 16383) return 2;
  if (length < 2097151) return 3;
  return length < 268435455 ? 4 : 5;
}

// Writes seven bits per byte, the highest first. All bytes except the first have the high bit set.
void AppendBackLength(size_t length, std::string& out) {
  const size_t bytes = BackLengthBytes(length);
  for (size_t i = bytes; i > 0; --i) {
    const auto bits = static_cast<uint8_t>(length >> 7 * (i - 1) & 0x7f);
    out += static_cast<char>(i == bytes ? bits : bits | 0x80);
  }
}

// Takes the rest of the encoding after `first`, and the bytes.
std::optional<std::string_view> TakeValue(uint8_t first, ByteCursor& cursor, std::string& made) {
  if (first < 0x80) return TextOf(first, made);
  if (first < 0xc0) return cursor.Take(first & 0x3f);
  if (first < 0xe0) {
    const int64_t value = (first & 0x1f) << 8 | cursor.Byte();
    return TextOf(value < 1 << 12 ? value : value - (1 << 13), made);
  }
  if (first < 0xf0) return cursor.Take(static_cast<size_t>(first & 0x0f) << 8 | cursor.Byte());
  if (first == kLongString) return cursor.Take(cursor.Unsigned(4));
  return TakeInteger(kListpackIntegers, first, cursor, made);
}

// Takes a value and the backward length after it.
std::optional<std::string_view> TakeElement(uint8_t first, ByteCursor& cursor, std::string& made) {
  const size_t before = cursor.left() + 1;
  const std::optional<std::string_view> value = TakeValue(first, cursor, made);
  cursor.Take(BackLengthBytes(before - cursor.left()));
  return value;
}

bool FitsIn(int64_t value, int bits) {
  return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1);
}

}  // namespace

bool ReadListpack(std::string_view bytes, const VisitElement& visit) {
  return WalkElements(bytes, kListpackHeader, visit, TakeElement);
}

ListpackWriter::ListpackWriter() : bytes_(kListpackHeader, '\0') {}

void ListpackWriter::Add(std::string_view element) {
  const size_t before = bytes_.size();
  const auto value =
      element.size() <= kLongestListpackInteger ? ParseInteger(element) : std::nullopt;
  if (value) {
    AddInteger(*value);
  } else {
    AddString(element);
  }
  AppendBackLength(bytes_.size() - before, bytes_);
  ++count_;
}

void ListpackWriter::AddInteger(int64_t value) {
  const auto add = [this, value](uint8_t encoding, size_t bytes) {
    bytes_ += static_cast<char>(encoding);
    AppendLittleEndian(static_cast<uint64_t>(value), bytes, bytes_);
  };
  if (value >= 0 && value < 0x80) {
    bytes_ += static_cast<char>(value);
  } else if (FitsIn(value, 13)) {
    AppendBigEndian(0xc000 | (static_cast<uint64_t>(value) & 0x1fff), 2, bytes_);
  } else if (FitsIn(value, 16)) {
    add(kInt16, 2);
  } else if (FitsIn(value, 24)) {
    add(kInt24, 3);
  } else if (FitsIn(value, 32)) {
    add(kInt32, 4);
  } else {
    add(kInt64, 8);
  }
}

void ListpackWriter::AddString(std::string_view element) {
  const size_t size = element.size();
  if (size < 1u << 6) {
    bytes_ += static_cast<char>(0x80 | size);
  } else if (size < 1u << 12) {
    AppendBigEndian(0xe000 | size, 2, bytes_);
  } else {
    bytes_ += static_cast<char>(kLongString);
    AppendLittleEndian(size, 4, bytes_);
  }
  bytes_ += element;
}

std::string ListpackWriter::Finish() {
  bytes_ += static_cast<char>(kEndOfElements);
  std::string header;
  AppendLittleEndian(bytes_.size(), 4, header);
  AppendLittleEndian(std::min<uint64_t>(count_, kUncounted), 2, header);
  bytes_.replace(0, kListpackHeader, header);
  std::string whole(kListpackHeader, '\0');
  std::swap(whole, bytes_);
  count_ = 0;
  return whole;
}

}  // namespace zsetd
