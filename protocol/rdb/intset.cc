#include <algorithm>

#include "protocol/rdb/append_number.h"
#include "protocol/rdb/byte_cursor.h"
#include "protocol/rdb/packed_elements.h"
#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

constexpr size_t kWidths[] = {2, 4, 8};

// The fewest bytes that all integers from `min` to `max` fit in.
size_t WidthFor(int64_t min, int64_t max) {
  if (min >= INT16_MIN && max <= INT16_MAX) return 2;
  return min >= INT32_MIN && max <= INT32_MAX ? 4 : 8;
}

}  // namespace

bool ReadIntset(std::string_view bytes, const VisitElement& visit) {
  ByteCursor cursor(bytes);
  const uint64_t width = cursor.Unsigned(4);
  const uint64_t count = cursor.Unsigned(4);
  if (std::ranges::find(kWidths, width) == std::end(kWidths)) return false;
  if (cursor.left() != width * count) return false;
  int64_t last = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t integer = cursor.Signed(width);
    if (i > 0 && integer <= last) return false;
    last = integer;
    if (!visit(IntegerText(integer))) return false;
  }
  return cursor.ok();
}

std::string MakeIntset(std::span<const int64_t> integers) {
  const size_t width = WidthFor(integers.front(), integers.back());
  std::string bytes;
  AppendLittleEndian(width, 4, bytes);
  AppendLittleEndian(integers.size(), 4, bytes);
  for (const int64_t integer : integers) {
    AppendLittleEndian(static_cast<uint64_t>(integer), width, bytes);
  }
  return bytes;
}

}  // namespace zsetd
