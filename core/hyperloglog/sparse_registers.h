// The sparse encoding of registers: runs of equal registers, in order, one or two bytes each.
//
//   00xxxxxx            the next x+1 registers are 0; up to 64
//   01xxxxxx yyyyyyyy   the same for xy+1; up to 16384
//   1vvvvvxx            the next x+1 registers are v+1: values up to 32, up to 4 registers
//
// Clients can store any bytes, so runs are not trusted: a reader must check that they are complete
// and that their sum is the number of registers.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/hyperloglog/registers.h"

namespace zsetd {

inline constexpr size_t kMostShortZeroRun = 64;
inline constexpr size_t kMostValueRun = 4;
inline constexpr uint8_t kMostSparseValue = 32;

struct SparseRun {
  uint8_t value = 0;
  uint8_t bytes = 1;  // of its encoding
  uint32_t length = 1;

  bool HasValue() const { return value != 0; }
};

inline bool IsValueRun(char first) { return (static_cast<uint8_t>(first) & 0x80) != 0; }
inline bool IsLongZeroRun(char first) { return (static_cast<uint8_t>(first) & 0xc0) == 0x40; }

// The run at the start of `bytes`, which are not empty. Nullopt if it is cut off.
inline std::optional<SparseRun> FirstRun(std::string_view bytes) {
  const auto first = static_cast<uint8_t>(bytes[0]);
  if (IsValueRun(bytes[0])) {
    return SparseRun{.value = static_cast<uint8_t>((first >> 2 & 0x1f) + 1),
                     .length = (first & 0x3u) + 1};
  }
  if (!IsLongZeroRun(bytes[0])) return SparseRun{.length = (first & 0x3fu) + 1};
  if (bytes.size() < 2) return std::nullopt;
  const uint32_t high = first & 0x3fu;
  return SparseRun{.bytes = 2, .length = (high << 8 | static_cast<uint8_t>(bytes[1])) + 1};
}

// Calls visit(const SparseRun&) for the runs, up to the one after which there are no registers
// left. Returns whether these are all runs, and describe all registers exactly; if not, the run
// that goes beyond is not visited. O(registers), whatever the length.
template <class Visit>
bool ForEachRun(std::string_view sparse, Visit visit) {
  size_t left = kHllRegisters;
  while (!sparse.empty()) {
    const std::optional<SparseRun> run = FirstRun(sparse);
    if (!run || run->length > left) return false;
    visit(*run);
    left -= run->length;
    sparse.remove_prefix(run->bytes);
  }
  return left == 0;
}

// Raises each register to the one in `sparse`, if that is greater. False if that is damaged; some
// registers may have been raised then.
bool RaiseToSparse(std::string_view sparse, HllRegisters& registers);

// Nullopt if it is damaged.
std::optional<HllHistogram> HistogramOfSparse(std::string_view sparse);

}  // namespace zsetd
