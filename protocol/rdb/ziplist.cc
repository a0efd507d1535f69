// An element of a ziplist consists of the length of the preceding element (1 byte, or 254 and 4
// more), its encoding and its bytes:
//
//   00xxxxxx       string, up to 63 bytes        01xxxxxx + 1   string, up to 16383
//   10...... + 4   string, any length            1111xxxx       integers 0 to 12, as 1 to 13
//   11...... + n   integers of 1, 2, 3, 4, 8 bytes; see kZiplistIntegers
//
// In a zipmap, fields and values have lengths of 1 byte, or 254 and 4 more. The length of a value
// is followed by the number of unused bytes after the value.
#include <optional>

#include "protocol/rdb/byte_cursor.h"
#include "protocol/rdb/element_walk.h"
#include "protocol/rdb/packed_elements.h"

namespace zsetd {
namespace {

constexpr size_t kZiplistHeader = 10;  // includes the place of the last element
constexpr uint8_t kLongLength = 254;

constexpr IntegerEncoding kZiplistIntegers[] = {
    {0xfe, 1}, {0xc0, 2}, {0xf0, 3}, {0xd0, 4}, {0xe0, 8}};
constexpr uint8_t kZero = 0xf1;  // to kTwelve
constexpr uint8_t kTwelve = 0xfd;

// Takes the encoding and the bytes.
std::optional<std::string_view> TakeZiplistValue(ByteCursor& cursor, std::string& made) {
  const uint8_t first = cursor.Byte();
  if (first < 0x40) return cursor.Take(first);
  if (first < 0x80) return cursor.Take(static_cast<size_t>(first & 0x3f) << 8 | cursor.Byte());
  if (first < 0xc0) return cursor.Take(cursor.BigEndian(4));
  if (first >= kZero && first <= kTwelve) return TextOf(first - kZero, made);
  return TakeInteger(kZiplistIntegers, first, cursor, made);
}

// Takes the rest of a length after its first byte.
size_t TakeLength(uint8_t first, ByteCursor& cursor) {
  return first == kLongLength ? cursor.Unsigned(4) : first;
}

std::optional<std::string_view> TakeZiplistElement(uint8_t first, ByteCursor& cursor,
                                                   std::string& made) {
  TakeLength(first, cursor);
  return TakeZiplistValue(cursor, made);
}

}  // namespace

bool ReadZiplist(std::string_view bytes, const VisitElement& visit) {
  return WalkElements(bytes, kZiplistHeader, visit, TakeZiplistElement);
}

bool ReadZipmap(std::string_view bytes, const VisitElement& visit) {
  ByteCursor cursor(bytes);
  cursor.Byte();  // the number of pairs, unless there are many
  uint8_t first = cursor.Byte();
  for (; cursor.ok() && first != kEndOfElements; first = cursor.Byte()) {
    const std::string_view name = cursor.Take(TakeLength(first, cursor));
    const uint8_t value_first = cursor.Byte();
    if (value_first == kEndOfElements) return false;
    const size_t value_size = TakeLength(value_first, cursor);
    const uint8_t unused = cursor.Byte();
    const std::string_view value = cursor.Take(value_size);
    cursor.Take(unused);
    if (!cursor.ok() || !visit(name) || !visit(value)) return false;
  }
  return cursor.ok() && cursor.left() == 0;
}

}  // namespace zsetd
