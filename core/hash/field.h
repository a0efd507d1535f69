#pragma once

#include <cstddef>
#include <string_view>

namespace zsetd {

// A name with its value: a field of a hash, or with no value a member of a set.
//
// A packed field is a run of bytes without parts of fixed width. It starts with a varint
// (core/util/varint.h) of twice the name's length, plus 1 if a value follows; so the members of a
// set spend no bytes on absent values.
//
//     [ 2 * length + 1 | length of the value ] [ name ] [ value ]
struct Field {
  std::string_view name;
  std::string_view value;

  const char* end() const { return value.data() + value.size(); }  // of a packed one
};

// The bytes that the field takes when packed.
size_t PackedBytes(const Field& field);

// Packs the field from `at` on and returns where it ends. The bytes that the field views must not
// overlap with the target.
char* Pack(char* at, const Field& field);

// The field that is packed at `at`; its views stay there.
Field Unpack(const char* at);

}  // namespace zsetd
