#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/rdb/byte_cursor.h"
#include "protocol/rdb/packed_elements.h"
#include "protocol/text/number_text.h"

namespace zsetd {

// Constants of both listpacks and ziplists; packed_elements.h shows both.
inline constexpr uint8_t kEndOfElements = 0xff;
inline constexpr uint64_t kUncounted = UINT16_MAX;  // this many or more: the header has no count

// The text of an integer, stored in `made`.
inline std::string_view TextOf(int64_t value, std::string& made) {
  return made = IntegerText(value);
}

// The encoding byte of an integer of this size.
struct IntegerEncoding {
  uint8_t encoding;
  size_t bytes;
};

// Takes the bytes of an integer; nullopt if `encoding` is not in `known`.
inline std::optional<std::string_view> TakeInteger(std::span<const IntegerEncoding> known,
                                                   uint8_t encoding, ByteCursor& cursor,
                                                   std::string& made) {
  for (const IntegerEncoding& each : known) {
    if (each.encoding == encoding) return TextOf(cursor.Signed(each.bytes), made);
  }
  return std::nullopt;
}

// Reads a header of `header_bytes` and the elements. The first four bytes of the header are the
// total size, the last two are the number of elements. `take(first, cursor, made)` takes an element
// after its first byte, or returns nullopt if the bytes are not an element. It may store a text in
// `made`.
template <class Take>
bool WalkElements(std::string_view bytes, size_t header_bytes, const VisitElement& visit,
                  Take take) {
  ByteCursor cursor(bytes);
  const uint64_t size = cursor.Unsigned(4);
  cursor.Take(header_bytes - 6);
  const uint64_t announced = cursor.Unsigned(2);
  std::string made;
  uint64_t count = 0;
  uint8_t first = cursor.Byte();
  for (; cursor.ok() && first != kEndOfElements; first = cursor.Byte()) {
    const std::optional<std::string_view> element = take(first, cursor, made);
    if (!element || !cursor.ok() || !visit(*element)) return false;
    ++count;
  }
  const bool counts_agree = announced == kUncounted || announced == count;
  return cursor.ok() && cursor.left() == 0 && size == bytes.size() && counts_agree;
}

}  // namespace zsetd
