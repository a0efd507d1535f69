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

// How many bits are set at the positions of the range, which lie in `bytes`. O(bytes of the range).
uint64_t CountBits(std::string_view bytes, BitRange range);

// The first position of the range, which lies in `bytes`, where the bit is `bit`. O(bytes of the
// range).
std::optional<uint64_t> FindBit(std::string_view bytes, bool bit, BitRange range);

// The bit at that position; beyond the end all are 0.
bool BitAt(std::string_view bytes, uint64_t position);

// `position` lies in `bytes`.
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

// As long as the longest of the strings; the others count as if zero bytes followed. There is one
// string at least. O(bytes of all).
std::string Combine(BitOperation operation, std::span<const std::string_view> strings);

}  // namespace zsetd
