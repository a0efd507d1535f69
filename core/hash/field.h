#pragma once

#include <cstddef>
#include <string_view>

namespace zsetd {

// A name with its value: a field of a hash; or a name without a value: a member of a set.
//
// A packed field has no parts of fixed width. It starts with a varint (core/util/varint.h) of twice
// the name's length, plus 1 if a value follows. So the members of a set need no bytes for absent
// values.
//
//     [ 2 * length + 1 | length of the value ] [ name ] [ value ]
struct Field {
  std::string_view name;
  std::string_view value;

  const char* end() const { return value.data() + value.size(); }  // of a packed field
};

// The number of bytes that the packed field takes.
size_t PackedBytes(const Field& field);

// Writes the packed field at `at` and returns its end. The bytes that the field views must not
// overlap with the target.
char* Pack(char* at, const Field& field);

// The field that is packed at `at`. It views the packed bytes.
Field Unpack(const char* at);

}  // namespace zsetd
