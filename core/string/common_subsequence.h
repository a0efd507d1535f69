#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// `size` equal bytes in two strings, from these places on.
struct CommonRun {
  size_t first_start = 0;
  size_t second_start = 0;
  size_t size = 0;
};

// The longest sequence of bytes that two strings have in common, possibly with other bytes in
// between. If several have this length, the result is the one of Redis.
struct CommonSubsequence {
  size_t size = 0;
  std::vector<CommonRun> runs;  // the last of the strings first
};

// O(product of the lengths), in time, and in memory while it runs: TableBytes() returns how much.
CommonSubsequence LongestCommonSubsequence(std::string_view first, std::string_view second);

// The bytes of memory that LongestCommonSubsequence() needs for these lengths, each below 2^32 - 1.
uint64_t TableBytes(uint64_t first_size, uint64_t second_size);

// The sequence itself; `first` is the first string.
std::string Text(const CommonSubsequence& common, std::string_view first);

}  // namespace zsetd
