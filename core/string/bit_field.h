#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace zsetd {

// An integer of some bits in the middle of a byte string: 1 to 64 bits if it is signed, 1 to 63 if
// it is unsigned, so that each fits an int64_t.
struct BitFieldType {
  bool has_sign = false;
  int bits = 1;
};

// The treatment of a number that does not fit.
enum class Overflow {
  kWrap,      // its lowest bits are kept
  kSaturate,  // the nearest number that fits is used
  kFail,      // the operation fails
};

// The field whose highest bit is at `position`. Beyond the end of `bytes` all bits are 0. O(1).
int64_t ReadBitField(std::string_view bytes, const BitFieldType& type, uint64_t position);

// Writes the lowest bits of `value`. Precondition: the field lies in `bytes`. O(1).
void WriteBitField(std::span<char> bytes, const BitFieldType& type, uint64_t position,
                   int64_t value);

// The value of a field that is set to `value`; nullopt if it does not fit and `overflow` is kFail.
// For an unsigned field, a negative value counts as the large number with the same 64 bits. For a
// signed field with kSaturate, a value more than 2^63 - 1 below its maximum counts as too large, as
// in Redis.
std::optional<int64_t> FittedValue(const BitFieldType& type, int64_t value, Overflow overflow);

// Like FittedValue(), for a field with the value `old` to which `increment` is added.
std::optional<int64_t> FittedSum(const BitFieldType& type, int64_t old, int64_t increment,
                                 Overflow overflow);

}  // namespace zsetd
