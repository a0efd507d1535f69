#include "core/string/bit_field.h"

#include <cassert>
#include <limits>

#include "core/string/bits.h"

namespace zsetd {
namespace {

// Holds the sum of any two numbers of 64 bits.
using Wide = __int128;

Wide MaxOf(const BitFieldType& type) { return (Wide{1} << (type.bits - type.has_sign)) - 1; }
Wide MinOf(const BitFieldType& type) { return type.has_sign ? -(Wide{1} << (type.bits - 1)) : 0; }

// The number that the lowest bits encode.
int64_t FromBits(const BitFieldType& type, uint64_t bits) {
  const int unused = 64 - type.bits;
  const uint64_t high = bits << unused;
  if (!type.has_sign) return static_cast<int64_t>(high >> unused);
  return static_cast<int64_t>(high) >> unused;
}

std::optional<int64_t> Fitted(const BitFieldType& type, Wide value, Overflow overflow) {
  const Wide max = MaxOf(type);
  const Wide min = MinOf(type);
  if (min <= value && value <= max) return static_cast<int64_t>(value);
  if (overflow == Overflow::kFail) return std::nullopt;
  if (overflow == Overflow::kSaturate) return static_cast<int64_t>(value > max ? max : min);
  return FromBits(type, static_cast<uint64_t>(value));
}

}  // namespace

int64_t ReadBitField(std::string_view bytes, const BitFieldType& type, uint64_t position) {
  assert(1 <= type.bits && type.bits <= (type.has_sign ? 64 : 63));
  uint64_t bits = 0;
  for (int i = 0; i < type.bits; ++i) bits = bits << 1 | BitAt(bytes, position + i);
  return FromBits(type, bits);
}

void WriteBitField(std::span<char> bytes, const BitFieldType& type, uint64_t position,
                   int64_t value) {
  assert(1 <= type.bits && type.bits <= (type.has_sign ? 64 : 63));
  assert((position + type.bits + 7) / 8 <= bytes.size());
  for (int i = 0; i < type.bits; ++i) {
    SetBit(bytes, position + i, (static_cast<uint64_t>(value) >> (type.bits - 1 - i)) & 1);
  }
}

// Redis computes the distance from the value to the largest one in 64 bits. For a value far below
// the least one this overflows, and the value counts as too large. Replicas and other readers of
// the log repeat the request, so the result must be the same.
std::optional<int64_t> FittedValue(const BitFieldType& type, int64_t value, Overflow overflow) {
  if (!type.has_sign) return Fitted(type, Wide{static_cast<uint64_t>(value)}, overflow);
  const Wide max = MaxOf(type);
  const bool is_far_below = type.bits < 64 && max - value > std::numeric_limits<int64_t>::max();
  if (is_far_below && overflow == Overflow::kSaturate) return static_cast<int64_t>(max);
  return Fitted(type, Wide{value}, overflow);
}

std::optional<int64_t> FittedSum(const BitFieldType& type, int64_t old, int64_t increment,
                                 Overflow overflow) {
  return Fitted(type, Wide{old} + increment, overflow);
}

}  // namespace zsetd
