// The bits of a byte string, counted from the highest bit of the first byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/util/range.h"

namespace zsetd {

using BitRange = RankRange;  // of bits, by position

// The number of set bits in the range, which lies in `bytes`. O(bytes of the range).
uint64_t CountBits(std::string_view bytes, BitRange range);

// The first position of the range, which lies in `bytes`, where the bit is `bit`. O(bytes of the
// range).
std::optional<uint64_t> FindBit(std::string_view bytes, bool bit, BitRange range);

// The bit at that position; 0 beyond the end.
bool BitAt(std::string_view bytes, uint64_t position);

// Precondition: `position` lies in `bytes`.
void SetBit(std::span<char> bytes, uint64_t position, bool bit);

// The operation on the bits at one position of several strings. The first string is X, the others
// are Y.
enum class BitOperation {
  kAnd,
  kOr,
  kXor,
  kNot,    // of X alone
  kDiff,   // in X and in no Y
  kDiff1,  // in some Y and not in X
  kAndOr,  // in X and in some Y
  kOne,    // in exactly one string
};

// Returns a string as long as the longest input; shorter inputs are extended with zero bytes.
// Precondition: at least one string. O(bytes of all strings).
std::string Combine(BitOperation operation, std::span<const std::string_view> strings);

}  // namespace zsetd
