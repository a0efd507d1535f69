#include "core/hash/field.h"

#include <algorithm>

#include "core/util/varint.h"

namespace zsetd {
namespace {

size_t FirstMark(const Field& field) { return 2 * field.name.size() + !field.value.empty(); }

}  // namespace

size_t PackedBytes(const Field& field) {
  const size_t value_mark_bytes = field.value.empty() ? 0 : VarintBytes(field.value.size());
  return VarintBytes(FirstMark(field)) + value_mark_bytes + field.name.size() + field.value.size();
}

char* Pack(char* at, const Field& field) {
  at = WriteVarintForward(at, FirstMark(field));
  if (!field.value.empty()) at = WriteVarintForward(at, field.value.size());
  at = std::copy(field.name.begin(), field.name.end(), at);
  return std::copy(field.value.begin(), field.value.end(), at);
}

Field Unpack(const char* at) {
  const Varint first = ReadVarintForward(at);
  at += first.bytes;
  Varint value;
  if (first.length % 2 != 0) value = ReadVarintForward(at);
  const char* name = at + value.bytes;
  const size_t name_size = first.length / 2;
  return {.name = {name, name_size}, .value = {name + name_size, value.length}};
}

}  // namespace zsetd
