#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// `size` equal bytes in two strings, starting at these places.
struct CommonRun {
  size_t first_start = 0;
  size_t second_start = 0;
  size_t size = 0;
};

// The longest sequence of bytes that two strings have in common, possibly with other bytes in
// between. If several have this length, the result is the one of Redis.
struct CommonSubsequence {
  size_t size = 0;
  std::vector<CommonRun> runs;  // in descending order of their places
};

// Takes O(product of the lengths) time and memory; TableBytes() returns the latter.
CommonSubsequence LongestCommonSubsequence(std::string_view first, std::string_view second);

// The bytes of memory that LongestCommonSubsequence() needs for these lengths, each below 2^32 - 1.
uint64_t TableBytes(uint64_t first_size, uint64_t second_size);

// The bytes of the sequence; `first` is the first string.
std::string Text(const CommonSubsequence& common, std::string_view first);

}  // namespace zsetd
