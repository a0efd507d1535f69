#include "core/hash/field.h"

#include <algorithm>

#include "core/util/varint.h"

namespace zsetd {
namespace {

size_t FirstMark(const Field& field) { return 2 * field.name.size() + !field.value.empty(); }

}  // namespace

size_t PackedBytes(const Field& field) {
  const size_t value_mark_bytes = field.value.empty() ? 0 : LengthMarkBytes(field.value.size());
  return LengthMarkBytes(FirstMark(field)) + value_mark_bytes + field.name.size() +
         field.value.size();
}

char* Pack(char* at, const Field& field) {
  at = WriteLengthForward(at, FirstMark(field));
  if (!field.value.empty()) at = WriteLengthForward(at, field.value.size());
  at = std::copy(field.name.begin(), field.name.end(), at);
  return std::copy(field.value.begin(), field.value.end(), at);
}

Field Unpack(const char* at) {
  const LengthMark first = ReadLengthForward(at);
  at += first.bytes;
  LengthMark value;
  if (first.length % 2 != 0) value = ReadLengthForward(at);
  const char* name = at + value.bytes;
  const size_t name_size = first.length / 2;
  return {.name = {name, name_size}, .value = {name + name_size, value.length}};
}

}  // namespace zsetd
