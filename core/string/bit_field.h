#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace zsetd {

// An integer of some bits in the middle of a byte string: 1 to 64 bits if it has a sign, 1 to 63 if
// it has none, so that each fits an int64_t.
struct BitFieldType {
  bool has_sign = false;
  int bits = 1;
};

// What becomes of a number that does not fit.
enum class Overflow {
  kWrap,      // its lowest bits are kept
  kSaturate,  // the nearest that fits is taken
  kFail,      // the operation fails
};

// The field whose highest bit is at `position`. Beyond the end of `bytes` all bits are 0. O(1).
int64_t ReadBitField(std::string_view bytes, const BitFieldType& type, uint64_t position);

// Writes the lowest bits of `value`; the field lies in `bytes`. O(1).
void WriteBitField(std::span<char> bytes, const BitFieldType& type, uint64_t position,
                   int64_t value);

// The value of a field that is set to `value`; nullopt if it does not fit and that fails. A field
// without sign takes a negative value for the large one of the same 64 bits. A field with sign that
// saturates takes values more than 2^63 - 1 below its largest one for too large ones, as in Redis.
std::optional<int64_t> FittedValue(const BitFieldType& type, int64_t value, Overflow overflow);

// The same for a field that holds `old`, when `increment` is added.
std::optional<int64_t> FittedSum(const BitFieldType& type, int64_t old, int64_t increment,
                                 Overflow overflow);

}  // namespace zsetd
