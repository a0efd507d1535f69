// An element of a ziplist is the length of the one before it (1 byte, or 254 and 4 more), its
// encoding and its bytes:
//
//   00xxxxxx       string, up to 63 bytes        01xxxxxx + 1   string, up to 16383
//   10...... + 4   string, any length            1111xxxx       integers 0 to 12, as 1 to 13
//   11...... + n   integers of 1, 2, 3, 4, 8 bytes, as kInt8 and its kin say
//
// In a zipmap names and values have lengths of 1 byte, or 254 and 4 more; a value's is followed by
// how many bytes behind it are unused.
#include <optional>

#include "protocol/byte_cursor.h"
#include "protocol/number_text.h"
#include "protocol/packed_elements.h"

namespace zsetd {
namespace {

constexpr uint8_t kEnd = 0xff;
constexpr uint8_t kLongLength = 254;
constexpr uint64_t kUncounted = UINT16_MAX;  // so many or more: the header does not tell

constexpr uint8_t kInt16 = 0xc0;
constexpr uint8_t kInt32 = 0xd0;
constexpr uint8_t kInt64 = 0xe0;
constexpr uint8_t kInt24 = 0xf0;
constexpr uint8_t kInt8 = 0xfe;
constexpr uint8_t kZero = 0xf1;  // to kTwelve
constexpr uint8_t kTwelve = 0xfd;

// Takes one element from its encoding on; an integer's text goes to `made`. Nothing if the encoding
// means none.
std::optional<std::string_view> TakeElement(ByteCursor& cursor, std::string& made) {
  const auto text = [&made](int64_t value) { return std::string_view(made = IntegerText(value)); };
  const uint8_t first = cursor.Byte();
  if (first < 0x40) return cursor.Take(first);
  if (first < 0x80) return cursor.Take(static_cast<size_t>(first & 0x3f) << 8 | cursor.Byte());
  if (first < 0xc0) return cursor.Take(cursor.BigEndian(4));
  if (first >= kZero && first <= kTwelve) return text(first - kZero);
  switch (first) {
    case kInt8:
      return text(cursor.Signed(1));
    case kInt16:
      return text(cursor.Signed(2));
    case kInt24:
      return text(cursor.Signed(3));
    case kInt32:
      return text(cursor.Signed(4));
    case kInt64:
      return text(cursor.Signed(8));
    default:
      return std::nullopt;
  }
}

// What stands behind the length's first byte.
size_t TakeLength(uint8_t first, ByteCursor& cursor) {
  return first == kLongLength ? cursor.Unsigned(4) : first;
}

}  // namespace

bool ReadZiplist(std::string_view bytes, const VisitElement& visit) {
  ByteCursor cursor(bytes);
  const uint64_t size = cursor.Unsigned(4);
  cursor.Take(4);  // where the last element begins
  const uint64_t announced = cursor.Unsigned(2);
  std::string made;
  uint64_t count = 0;
  uint8_t first = cursor.Byte();
  for (; cursor.ok() && first != kEnd; first = cursor.Byte()) {
    TakeLength(first, cursor);
    const std::optional<std::string_view> element = TakeElement(cursor, made);
    if (!element || !cursor.ok() || !visit(*element)) return false;
    ++count;
  }
  const bool counts_agree = announced == kUncounted || announced == count;
  return cursor.ok() && cursor.left() == 0 && size == bytes.size() && counts_agree;
}

bool ReadZipmap(std::string_view bytes, const VisitElement& visit) {
  ByteCursor cursor(bytes);
  cursor.Byte();  // how many pairs there are, or that there are many
  uint8_t first = cursor.Byte();
  for (; cursor.ok() && first != kEnd; first = cursor.Byte()) {
    const std::string_view name = cursor.Take(TakeLength(first, cursor));
    const uint8_t value_first = cursor.Byte();
    if (value_first == kEnd) return false;
    const size_t value_size = TakeLength(value_first, cursor);
    const uint8_t unused = cursor.Byte();
    const std::string_view value = cursor.Take(value_size);
    cursor.Take(unused);
    if (!cursor.ok() || !visit(name) || !visit(value)) return false;
  }
  return cursor.ok() && cursor.left() == 0;
}

}  // namespace zsetd
